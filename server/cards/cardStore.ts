import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { cardsFile, readCardsFile } from "@/server/contracts/engine/cardsFile";
import type { Outcome } from "@/server/contracts/studio";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { type CardCatalogue, catalogueOf, misplaced, noUserCards } from "@/solver/hardware/catalogue";

/** The user's own cards in the state directory. The file is the truth: it may be edited by hand while the studio runs. */
export interface CardStore {
  /** An unusable file counts as empty, and `problem` states the reason in one sentence. */
  read(): { readonly userCards: UserCards; readonly catalogue: CardCatalogue; readonly problem: string | null };
  /** Writes the cards returned by `edit`, atomically. Refused while the file is unusable, so that its content is not lost. */
  change(edit: (cards: UserCards) => UserCards): Outcome<object>;
}

export function createCardStore(stateDir: string): CardStore {
  const file = cardsFile(stateDir);
  return {
    read() {
      const read = readCardsFile(file);
      const userCards = read.ok ? read.cards : noUserCards;
      return { userCards, catalogue: catalogueOf(userCards), problem: read.ok ? null : read.message };
    },
    change(edit) {
      const read = readCardsFile(file);
      if (!read.ok) return { ok: false, message: `${read.message} Mend or remove the file first.` };
      const cards = edit(read.cards);
      const wrong = misplaced(cards);
      if (wrong !== undefined) return { ok: false, message: `${wrong.path.join(".")}: ${wrong.message}.` };
      replaceFile(file, `${JSON.stringify(cards, null, 2)}\n`);
      return { ok: true };
    },
  };
}

function replaceFile(path: string, text: string): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, "w");
  writeFileSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, path);
}
