import type { PromptSurvey, SurveyedAnswers } from "@/server/contracts/studio";
import { surveyAnswers } from "@/server/planning/imports/importAnswers";
import { importArrivals } from "@/server/planning/imports/importArrivals";
import { importAssignments } from "@/server/planning/imports/importAssignments";
import { importServingRows } from "@/server/planning/imports/importServingRows";
import { importSessions } from "@/server/planning/imports/importSessions";
import type { CsvSource } from "@/server/planning/imports/readCsv";
import { type OutcomeSurvey, surveyOutcomes } from "@/server/planning/imports/surveyOutcomes";
import { surveyWorkload, type WorkloadSurvey } from "@/server/planning/imports/surveyWorkload";
import { type RunsSurvey, surveyRuns } from "@/server/prediction/surveyRuns";
import { surveyInThread } from "@/server/prompts/promptsThread";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { rowProblemTexts } from "@/solver/workload/rowProblems";
import type { Uploads } from "../store/uploads";

interface ArrivalSurvey {
  readonly ok: true;
  readonly arrivals: number;
  readonly spanSeconds: number;
  readonly origin: string;
}

interface ServingSurvey {
  readonly ok: true;
  /** Rows that can be compared with predictions. */
  readonly rows: number;
}

interface AssignmentsSurvey {
  readonly ok: true;
  /** Questions that experts are assigned to. */
  readonly questions: number;
}

interface SessionsSurvey {
  readonly ok: true;
  readonly rows: number;
  readonly models: readonly string[];
  readonly gpus: readonly string[];
}

/** Kinds of files that the browser may send. */
export const uploadKinds = [
  "outcomes",
  "arrivals",
  "serving",
  "workload",
  "prompts",
  "runs",
  "answers",
  "assignments",
  "sessions",
] as const;

export interface SurveyedUpload {
  readonly uploads: Uploads;
  readonly id: string;
  readonly kind: (typeof uploadKinds)[number];
  readonly cards: CardCatalogue;
  /** Aborts the reading of prompts, which may take a while: they are not stored then. */
  readonly signal: AbortSignal;
}

/** Most runs of one upload: each is simulated, at some 10 to 100 ms, and shown. */
const mostServingRows = 5000;

type Refused = { readonly ok: false; readonly message: string };

type Survey =
  | OutcomeSurvey
  | ArrivalSurvey
  | ServingSurvey
  | WorkloadSurvey
  | RunsSurvey
  | AssignmentsSurvey
  | SessionsSurvey
  | ((PromptSurvey | SurveyedAnswers) & { readonly ok: true });

/** Reads an upload once and returns a summary; an unreadable one is not stored. */
export async function surveyUpload(upload: SurveyedUpload): Promise<Survey | Refused> {
  let isRead = false;
  try {
    const survey = await surveyOf(upload);
    isRead = survey.ok;
    return survey;
  } finally {
    if (!isRead) upload.uploads.remove(upload.id);
  }
}

async function surveyOf({ uploads, id, kind, cards, signal }: SurveyedUpload): Promise<Survey | Refused> {
  const file = uploads.file(id);
  if (file === null) return { ok: false, message: "The upload is gone." };
  if (kind === "prompts") {
    const read = await surveyInThread(file, signal);
    return read.ok ? { ok: true, ...read.survey } : read;
  }
  if (kind === "runs") return surveyRuns(file, cards.models);
  const source = uploads.open(id);
  return source === null ? { ok: false, message: "The upload is gone." } : surveys[kind](source, cards);
}

const surveys = {
  outcomes: (source: CsvSource, { models }: CardCatalogue) => surveyOutcomes(source, models),
  workload: (source: CsvSource, { models }: CardCatalogue) => surveyWorkload(source, models),
  async arrivals(source: CsvSource): Promise<ArrivalSurvey | Refused> {
    const read = await importArrivals(source);
    if (!read.ok) return read;
    const { arrivalSeconds, origin } = read;
    return { ok: true, arrivals: arrivalSeconds.length, spanSeconds: arrivalSeconds.at(-1) ?? 0, origin };
  },
  async answers(source: CsvSource): Promise<(SurveyedAnswers & { readonly ok: true }) | Refused> {
    const read = await surveyAnswers(source);
    return read.ok ? { ok: true, ...read.survey } : read;
  },
  async assignments(source: CsvSource): Promise<AssignmentsSurvey | Refused> {
    const read = await importAssignments(source);
    return typeof read === "string" ? { ok: false, message: read } : { ok: true, questions: read.size };
  },
  async sessions(source: CsvSource, cards: CardCatalogue): Promise<SessionsSurvey | Refused> {
    const read = await importSessions(source, cards);
    if (!read.ok) return read;
    const { rows } = read;
    const named = (of: (row: SessionRow) => string): readonly string[] => [...new Set(rows.map(of))].sort();
    return { ok: true, rows: rows.length, models: named(({ model }) => model), gpus: named(({ gpu }) => gpu) };
  },
  async serving(source: CsvSource, cards: CardCatalogue): Promise<ServingSurvey | Refused> {
    const read = await importServingRows(source, cards, mostServingRows);
    if (!read.ok) return read;
    const { rows, unsupported, bad } = read;
    if (rows.length + unsupported.length > 0) return { ok: true, rows: rows.length };
    return { ok: false, message: `No row of ${read.name} could be read. ${rowProblemTexts(read.name, bad)[0]}.` };
  },
};
