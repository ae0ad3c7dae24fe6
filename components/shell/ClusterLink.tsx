"use client";

import Link from "next/link";
import type { ComponentProps } from "react";
import { useClusterLink } from "./useCurrentCluster";

/** A link to a page of the studio that keeps the chosen cluster; without own classes it looks like a text link. */
export function ClusterLink({ to, ...rest }: Omit<ComponentProps<typeof Link>, "href"> & { readonly to: string }) {
  const link = useClusterLink();
  return <Link className="text-accent underline underline-offset-2" {...rest} href={link(to)} />;
}
