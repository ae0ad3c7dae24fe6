import type { MeasuringOrder } from "@/server/contracts/studio";
import { measuringBounds } from "@/solver/calibration/nextRun";
import { noReference, type ReferenceForm, referenceFault, referenceOf } from "../clusters/prepareAttach";
import { boundsText, parseBounded } from "../ui/NumberInput";
import type { CalibrationView } from "./calibrationCodec";

/** The engine of a measurement as the page's address names it. */
export type MeasuringTarget = Pick<CalibrationView, "engine" | "served" | "gpu" | "tp" | "pp">;

/** A measurement as filled in so far. */
export interface MeasuringForm {
  readonly url: string;
  /** Empty: the only model that the engine serves. */
  readonly model: string;
  /** Empty: this host's processor. */
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  readonly minutes: number;
  readonly tokens: number;
  /** Most requests in flight; empty: as is usual for the engine. */
  readonly concurrency: string;
  readonly servingOthers: boolean;
  readonly key: ReferenceForm;
}

/** The form with what the page's address names filled in, and usual values for the rest. */
export function measuringForm({ engine, served, gpu, tp, pp }: MeasuringTarget): MeasuringForm {
  const { minutes, tokens } = measuringBounds;
  return {
    ...{ url: engine ?? "", model: served ?? "", gpu: gpu ?? "" },
    ...{ tp: tp ?? measuringBounds.tp.usual, pp: pp ?? measuringBounds.pp.usual },
    ...{ minutes: minutes.usual, tokens: tokens.usual, concurrency: "", servingOthers: false, key: noReference },
  };
}

/** What is wrong with the most requests in flight, in a sentence; null: nothing. */
export const concurrencyFault = (text: string): string | null =>
  text.trim() === "" || parseBounded(text, measuringBounds.concurrency) !== null ? null : `${boundsText(measuringBounds.concurrency)}.`;

/** The order of a filled-in form; null while a field of it is missing or wrong. */
export function measuringOrder({ url, model, gpu, concurrency, key, ...rest }: MeasuringForm): MeasuringOrder | null {
  if (url.trim() === "" || concurrencyFault(concurrency) !== null || referenceFault(key) !== null) return null;
  return {
    ...{ url: url.trim(), model: model.trim() || null, gpu: gpu.trim() || null },
    ...rest,
    concurrency: parseBounded(concurrency, measuringBounds.concurrency),
    key: referenceOf(key) ?? undefined,
  };
}
