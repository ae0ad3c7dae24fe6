"use client";

import { useMemo } from "react";
import { identifyModels, type ModelIdentity } from "../ui/modelIdentity";

/** Identities of the models named, renewed only when the names change. */
export function useModelIdentities(models: readonly string[]): ReadonlyMap<string, ModelIdentity> {
  const names = models.join(" ");
  return useMemo(() => identifyModels(names === "" ? [] : names.split(" ")), [names]);
}
