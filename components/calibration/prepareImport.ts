import type { ProfileList } from "@/server/contracts/studio";
import { type EngineProfile, freeProfileName } from "@/solver/hardware/engineProfile";
import { canonicalJson } from "@/solver/plan/canonical";

/** Conflicts of an imported profile with the existing ones. */
export type ImportMeets =
  | { readonly kind: "nothing" }
  /** A profile with identical figures; importing it again adds nothing. */
  | { readonly kind: "same-profile"; readonly profile: EngineProfile }
  /** Another profile of this name, and a name that is free. */
  | { readonly kind: "name-taken"; readonly profile: EngineProfile; readonly freeName: string };

/** Conflicts of a profile, under the name it would get, with the built-in and the stored ones. */
export function importMeets(profile: EngineProfile, name: string, { builtIn, own }: ProfileList): ImportMeets {
  const there = [...builtIn, ...own.map((kept) => kept.profile)];
  const same = there.find((other) => figuresOf(other) === figuresOf(profile));
  if (same !== undefined) return { kind: "same-profile", profile: same };
  const taken = there.find((other) => other.name === name);
  return taken === undefined ? { kind: "nothing" } : { kind: "name-taken", profile: taken, freeName: freeProfileName(name, there) };
}

/** All fields of a profile except its name. */
const figuresOf = (profile: EngineProfile): string => canonicalJson({ ...profile, id: "", name: "" });
