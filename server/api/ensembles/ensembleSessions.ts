import type { CardStore } from "@/server/cards/cardStore";
import type { Outcome } from "@/server/contracts/studio";
import { importSessions } from "@/server/planning/imports/importSessions";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";
import { counted } from "@/solver/wording/wording";
import type { EnsembleService } from "../base/ensembleServices";
import { keepSessions } from "./keepSessions";

interface SessionParts {
  readonly store: Store;
  readonly uploads: Uploads;
  readonly cards: CardStore;
}

/** Measured sessions: taken of uploads as the command line takes them of files, told by model, and removed by model and kind of engine. */
export function createEnsembleSessions({
  store,
  uploads,
  cards,
}: SessionParts): Pick<EnsembleService, "sessions" | "keepSessions" | "removeSessions"> {
  return {
    sessions: () => store.sessionRows.groups(),
    async keepSessions(uploadId, actor) {
      const file = uploads.open(uploadId);
      if (file === null) return { ok: false, message: "The uploaded file is not kept any more: send it again." };
      const read = await importSessions(file, cards.read().catalogue);
      if (!read.ok) return read;
      keepSessions(store, read.rows, { actor, from: file.name });
      uploads.remove(uploadId);
      return { ok: true, rows: read.rows.length };
    },
    removeSessions: (of, actor) =>
      store.atomically((): Outcome<object> => {
        const rows = store.sessionRows.remove(of);
        if (rows === 0) return { ok: false, message: "There are no such sessions." };
        const detail = `${counted(rows, "row")} of engines on ${of.gpus} x ${of.gpu}`;
        store.audit.add({ at: new Date().toISOString(), actor, action: "remove measured sessions", subject: of.model, detail });
        return { ok: true };
      }),
  };
}
