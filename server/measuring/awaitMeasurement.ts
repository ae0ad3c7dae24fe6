import { setTimeout as sleep } from "node:timers/promises";
import type { Measuring, MeasuringOrder, Outcome } from "@/server/contracts/studio";

/** `Measure this engine`, whose profile joins the measured engines of the profile in use. */
export interface EngineMeasuring {
  start(order: MeasuringOrder, actor: string): Promise<Outcome<object>>;
  state(): Measuring | null;
  stop(): Outcome<object>;
}

const LOOK_MS = 500;

/**
 * Waits for the measurement under way.
 *
 * @param watch.onState is called with its state again and again.
 * @returns the profile that it made and its runs; or why there is none, in a sentence.
 * @throws the signal's reason if it aborts, which stops the measurement.
 */
export async function awaitMeasurement(
  measuring: Pick<EngineMeasuring, "state" | "stop">,
  { signal, onState }: { readonly signal: AbortSignal; readonly onState: (state: Measuring) => void },
): Promise<Outcome<{ readonly profileId: string; readonly points: Measuring["points"] }>> {
  for (;;) {
    const now = measuring.state();
    if (now === null) return { ok: false, message: "The measurement is gone." };
    if (now.state.kind === "refused") return { ok: false, message: now.state.message };
    if (now.state.kind === "measured") return { ok: true, profileId: now.state.profile.id, points: now.points };
    onState(now);
    try {
      await sleep(LOOK_MS, undefined, { signal });
    } catch (stopped) {
      measuring.stop();
      throw stopped;
    }
  }
}
