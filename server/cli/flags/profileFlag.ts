import { readFileSync } from "node:fs";
import { reasonOf } from "@/server/lib/reasonOf";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { type CardCatalogue, catalogueOf } from "@/solver/hardware/catalogue";
import { type EngineProfile, isMeasured } from "@/solver/hardware/engineProfile";
import { withCards } from "@/solver/hardware/measuredProfile";
import { readProfileText } from "@/solver/hardware/readProfileText";
import { refuse } from "./exitCodes";

export const PROFILE_FLAG = [
  "--profile <file>",
  "engine profile written by `weir calibrate --out` or `weir measure --out` (default: the built-in profile of the engine)",
] as const;

/**
 * The profile of a file; null if none is named.
 * @throws Refusal with file and field if it is invalid.
 */
export function readProfile(path: string | undefined): EngineProfile | null {
  if (path === undefined) return null;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (problem) {
    return refuse(`--profile: ${path} cannot be read: ${reasonOf(problem)}.`);
  }
  const read = readProfileText(text, path);
  return read.ok ? read.profile : refuse(`--profile: ${read.message}`);
}

/** Cards with those that a measured profile brings along and they lack. */
export function withProfileCards(
  cards: { readonly userCards: UserCards; readonly catalogue: CardCatalogue },
  profile: EngineProfile | null,
): { readonly userCards: UserCards; readonly catalogue: CardCatalogue } {
  if (profile === null || !isMeasured(profile) || profile.cards === undefined) return cards;
  const userCards = withCards(cards.userCards, profile.cards);
  return { userCards, catalogue: catalogueOf(userCards) };
}
