import { randomUUID } from "node:crypto";
import { calibrate } from "@/server/calibration/calibrate";
import type { CalibrationTask } from "@/server/calibration/calibrationRequest";
import type { FitState, Outcome } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";

/** Fits that are remembered, so that a page that is reloaded finds its own. */
const KEPT_FITS = 16;

interface Fit {
  state: FitState;
  readonly stop: AbortController;
}

/** Running and recent fits, in memory. They continue without an open page, until they end or are stopped. */
export function createCalibrationFits() {
  const fits = new Map<string, Fit>();

  async function follow(fit: Fit, task: CalibrationTask): Promise<void> {
    const { name, base } = fit.state;
    try {
      for await (const reply of calibrate(task, fit.stop.signal)) {
        if (reply.kind !== "fit") continue;
        const { answer } = reply;
        fit.state =
          answer.outcome === "fitted"
            ? { name, base, kind: "fitted", fit: answer }
            : { name, base, kind: "refused", message: answer.reason };
      }
      if (fit.state.kind === "running") throw new Error("its thread ended without an answer");
    } catch (problem) {
      if (fit.stop.signal.aborted) return;
      const why = reasonOf(problem);
      fit.state = { name, base, kind: "refused", message: `The fit failed: ${why}.` };
    }
  }

  return {
    /** Refused while the limit of remembered fits is running. */
    start(task: Extract<CalibrationTask, { kind: "fit" }>): Outcome<{ readonly id: string }> {
      const ended = [...fits].find(([, { state }]) => state.kind !== "running");
      if (fits.size >= KEPT_FITS && ended === undefined)
        return { ok: false, message: `${KEPT_FITS} fits are under way: wait for one, or stop one.` };
      if (fits.size >= KEPT_FITS && ended !== undefined) fits.delete(ended[0]);
      const id = randomUUID();
      const fit: Fit = { state: { name: task.name, base: task.base, kind: "running" }, stop: new AbortController() };
      fits.set(id, fit);
      void follow(fit, task);
      return { ok: true, id };
    },
    get: (id: string): FitState | null => fits.get(id)?.state ?? null,
    stop(id: string): Outcome<object> {
      const fit = fits.get(id);
      if (fit === undefined) return { ok: false, message: "This fit is not kept any more." };
      if (fit.state.kind !== "running") return { ok: true };
      fit.state = { name: fit.state.name, base: fit.state.base, kind: "stopped" };
      fit.stop.abort();
      return { ok: true };
    },
  };
}
