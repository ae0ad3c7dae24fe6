import type { SurveyedAnswers } from "@/server/contracts/studio";
import type { ImportedColumn } from "@/solver/workload/gateColumns";
import { pageHeaders } from "../api/pageToken";

/** The browser's upload limit; larger files are for the command line, which reads any size. */
export const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;

/** The survey of an outcome table, as the studio answers an upload. */
export interface OutcomesSurvey {
  readonly rows: number;
  readonly families: readonly {
    readonly family: string;
    readonly tasks: readonly { readonly task: string; readonly metric: string; readonly rows: number }[];
    /** `model` is null where the operator must choose the card for the table's name. */
    readonly models: readonly { readonly tableName: string; readonly model: string | null }[];
    readonly judged: boolean;
    /** Columns of other gates' scores that have any. */
    readonly gateColumns: readonly ImportedColumn[];
  }[];
}

/** The survey of an arrival trace. */
export interface ArrivalsSurvey {
  readonly arrivals: number;
  readonly spanSeconds: number;
  readonly origin: string;
}

/** The survey of a table of measured runs. */
export interface ServingSurvey {
  readonly rows: number;
}

/** The survey of a workload file. */
export interface WorkloadFileSurvey {
  readonly name: string;
  readonly prompts: number;
  readonly arrivals: number;
  readonly models: readonly string[];
  readonly outcomesFrom: string;
}

/** The survey of a file of executed runs. */
export interface RunsSurvey {
  readonly runs: number;
  readonly otherLines: number;
  /** Smallest first. */
  readonly models: readonly string[];
  /** Further models that agents ran on, whose size is unknown. */
  readonly withoutCard: readonly string[];
}

/** The survey of a table that assigns questions to experts. */
export interface AssignmentsSurvey {
  readonly questions: number;
}

/** The survey of a table of measured sessions. */
export interface SessionsSurvey {
  readonly rows: number;
  readonly models: readonly string[];
  readonly gpus: readonly string[];
}

export interface Uploaded<Survey> {
  readonly uploadId: string;
  readonly survey: Survey;
}

/** Why a file is not even sent; null when it may be. */
export function refusalBeforeSending(file: { readonly name: string; readonly size: number }): string | null {
  if (file.size === 0) return `${file.name} is empty: choose another file.`;
  if (file.size <= MAX_UPLOAD_BYTES) return null;
  const megabytes = Math.ceil(file.size / 1024 / 1024);
  return `${file.name} has ${megabytes} MB, the browser sends at most 64 MB: import it with \`npm run weir -- import\`, which reads files of any size. Nothing was sent.`;
}

async function upload<Survey>(
  file: File,
  kind: "outcomes" | "arrivals" | "serving" | "workload" | "runs" | "answers" | "assignments" | "sessions",
): Promise<Uploaded<Survey>> {
  const refusal = refusalBeforeSending(file);
  if (refusal !== null) throw new Error(refusal);
  const response = await fetch(`/api/uploads?kind=${kind}&name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream", ...pageHeaders() },
    body: file,
  });
  const answer = (await response.json()) as Uploaded<Survey> | { readonly message: string };
  if ("message" in answer) throw new Error(answer.message);
  return answer;
}

/** Uploads an outcome table and returns its survey. Throws with the studio's sentence when it is refused. */
export const uploadOutcomes = (file: File) => upload<OutcomesSurvey>(file, "outcomes");

/** Sends an arrival trace. Throws with the studio's sentence when it is refused. */
export const uploadArrivals = (file: File) => upload<ArrivalsSurvey>(file, "arrivals");

/** Sends measured runs. Throws with the studio's sentence when they are refused. */
export const uploadServing = (file: File) => upload<ServingSurvey>(file, "serving");

/** Sends a workload as a studio writes it. Throws with the studio's sentence when it is refused. */
export const uploadWorkload = (file: File) => upload<WorkloadFileSurvey>(file, "workload");

/** Sends executed runs of a declared workflow. Throws with the studio's sentence when they are refused. */
export const uploadRuns = (file: File) => upload<RunsSurvey>(file, "runs");

/** Sends answers of several models to the same questions. Throws with the studio's sentence when they are refused. */
export const uploadAnswers = (file: File) => upload<SurveyedAnswers>(file, "answers");

/** Uploads which experts answer which question. Throws with the studio's sentence when it is refused. */
export const uploadAssignments = (file: File) => upload<AssignmentsSurvey>(file, "assignments");

/** Sends measured sessions of models. Throws with the studio's sentence when they are refused. */
export const uploadSessions = (file: File) => upload<SessionsSurvey>(file, "sessions");
