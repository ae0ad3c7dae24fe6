import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { type CardCatalogue, catalogueOf, noUserCards, readUserCards } from "@/solver/hardware/catalogue";

/** The user's own cards: one file in the state directory, read by studio, command line and emulator. */
export const cardsFile = (stateDir: string): string => join(stateDir, "cards.json");

/** The cards of a file, none if it does not exist; one sentence with file and field if it cannot be used. */
export function readCardsFile(
  path: string,
): { readonly ok: true; readonly cards: UserCards } | { readonly ok: false; readonly message: string } {
  if (!existsSync(path)) return { ok: true, cards: noUserCards };
  try {
    return readUserCards(readFileSync(path, "utf8"), path);
  } catch (problem) {
    return { ok: false, message: `${path} cannot be read: ${problem instanceof Error ? problem.message : problem}.` };
  }
}

/** Every card known to a process of this state directory. An unusable file counts as empty, and `problem` says why. */
export function catalogueIn(stateDir: string): { readonly catalogue: CardCatalogue; readonly problem: string | null } {
  const read = readCardsFile(cardsFile(stateDir));
  return { catalogue: catalogueOf(read.ok ? read.cards : noUserCards), problem: read.ok ? null : read.message };
}
