"use client";

import type { ComponentProps } from "react";
import type { Permission } from "@/server/contracts/studio";
import { useHindrance } from "../api/useMe";
import { HinderedButton } from "./HinderedButton";

/** The button of an act that needs a permission. For a person without it, it says who can do it. */
export function PermittedButton({
  permission,
  ...button
}: Omit<ComponentProps<typeof HinderedButton>, "hindrance"> & { readonly permission: Permission }) {
  return <HinderedButton {...button} hindrance={useHindrance(permission)} />;
}
