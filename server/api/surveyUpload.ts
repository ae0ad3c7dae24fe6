import { importArrivals } from "@/server/planning/importArrivals";
import { type OutcomeSurvey, surveyOutcomes } from "@/server/planning/surveyOutcomes";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { Uploads } from "./uploads";

export interface ArrivalSurvey {
  readonly ok: true;
  readonly arrivals: number;
  readonly spanSeconds: number;
  readonly origin: string;
}

export interface SurveyedUpload {
  readonly uploads: Uploads;
  readonly id: string;
  readonly kind: "outcomes" | "arrivals";
  readonly models: CardCatalogue["models"];
}

/** Reads an upload once and says what is in it; one that cannot be read is not kept. */
export async function surveyUpload({ uploads, id, kind, models }: SurveyedUpload): Promise<OutcomeSurvey | ArrivalSurvey> {
  const source = uploads.open(id);
  if (source === null) return { ok: false, message: "The upload is gone." };
  const survey = kind === "outcomes" ? await surveyOutcomes(source, models) : arrivalSurvey(await importArrivals(source));
  if (!survey.ok) uploads.remove(id);
  return survey;
}

function arrivalSurvey(read: Awaited<ReturnType<typeof importArrivals>>): ArrivalSurvey | Extract<typeof read, { ok: false }> {
  if (!read.ok) return read;
  const { arrivalSeconds, origin } = read;
  return { ok: true, arrivals: arrivalSeconds.length, spanSeconds: arrivalSeconds.at(-1) ?? 0, origin };
}
