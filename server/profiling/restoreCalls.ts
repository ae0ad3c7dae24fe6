import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import type { CallLedger } from "./callLedger";
import { SAMPLES_ID } from "./gateReadings";

/** What is known of earlier attempts at a call: what was counted of them already. */
export interface EarlierAttempts {
  readonly attempts: number;
  readonly lost: number;
  readonly usd: number;
}

/** Prompts whose calls are read in one turn of the event loop. */
const PROMPTS_A_TURN = 500;

/**
 * Adds the ended calls to a ledger. Calls that were in flight when the studio was killed may have been answered and paid for: they count as
 * lost, at their highest possible cost.
 *
 * @returns the known data of calls that were begun and have not ended, by their number in the ledger.
 */
export async function restoreCalls(
  { id, request }: StoredProfile,
  prompts: number,
  profiles: Store["profiles"],
  ledger: CallLedger,
): Promise<Map<number, EarlierAttempts>> {
  const earlier = new Map<number, EarlierAttempts>();
  const modelAt = new Map(request.models.map(({ model }, at) => [model, at]));
  const measureAt = new Map<string, number | null>([
    ["", null],
    ...request.measures.map((measure, at) => [measure.id, at] as const),
    ...(request.gates.samples === null ? [] : [[SAMPLES_ID, request.measures.length] as const]),
  ]);
  for (let from = 0; from < prompts; from += PROMPTS_A_TURN) {
    for (const row of profiles.callsBetween(id, from, from + PROMPTS_A_TURN)) {
      const [model, measure] = [modelAt.get(row.model), measureAt.get(row.measureId)];
      if (model === undefined || measure === undefined) continue;
      const call = { position: row.position, model, measure, reading: row.reading };
      if (row.state === "done" || row.state === "failed") ledger.restore(call, row.state);
      else {
        const lost = row.lost + (row.state === "asked" ? 1 : 0);
        earlier.set(ledger.idOf(call), { attempts: row.attempts, lost, usd: row.usd });
      }
    }
    await new Promise((next) => setImmediate(next));
  }
  return earlier;
}
