import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One HTTP exchange with a real engine. */
export interface RecordedExchange {
  /** Unique within a recording, a few words. */
  readonly name: string;
  readonly request: {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Text of the body, which need not be JSON; null: none. */
    readonly body: string | null;
  };
  readonly response: {
    readonly status: number;
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>;
    /** Pieces of the body as they arrived: milliseconds after the request was sent, and the text. */
    readonly chunks: readonly (readonly [ms: number, text: string])[];
    /** The client left before the answer ended. */
    readonly cut: boolean;
  };
}

/** A page of `/metrics`, and what the engine did at that time. */
interface RecordedPage {
  readonly name: string;
  readonly text: string;
}

/** How one start of the engine went. */
export interface RecordedStart {
  readonly name: string;
  /** Arguments after the name of the program. */
  readonly args: readonly string[];
  /** What `/health` answered since the start, one row for each change: an HTTP status, or the error code of the connection. */
  readonly health: readonly { readonly seconds: number; readonly status: string }[];
  /** null: it was ended after it was up. */
  readonly exitCode: number | null;
  /** Lines of its output, both streams, shortened. */
  readonly log: readonly string[];
}

export interface RecordedEngine {
  readonly exchanges: readonly RecordedExchange[];
  /** `/metrics` while load comes and goes, in the order of time; empty where one state of the engine is recorded. */
  readonly pages: readonly RecordedPage[];
  readonly starts: readonly RecordedStart[];
}

/** Names of the pages of a recording, in the order of time. */
export const recordedPages = ["idle", "busy", "busier", "after"] as const;

/** Folder of the recordings. */
export const recordings = join(process.env.WEIR_ROOT ?? process.cwd(), "bench", "recorded");

/**
 * What a real engine said, as `npm run bench -- "record engine"` stored it.
 * @param name folder of the recording: an engine, or an engine and its state, as `llama.cpp/idle`.
 * @returns without the parts whose files do not exist.
 */
export function readRecording(name: string, root = recordings): RecordedEngine {
  const textOf = (file: string): string | null => {
    const path = join(root, name, file);
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  };
  const linesOf = <Value>(file: string): readonly Value[] =>
    (textOf(file) ?? "").split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Value]));
  return {
    exchanges: linesOf("exchanges.jsonl"),
    pages: recordedPages.flatMap((page) => {
      const text = textOf(`metrics-${page}.txt`);
      return text === null ? [] : [{ name: page, text }];
    }),
    starts: linesOf("starts.jsonl"),
  };
}

/** What a real vLLM 0.32 said. */
export const recordedVllm = (): RecordedEngine => readRecording("vllm-0.32");

/** The exchange of that name. @throws if there is none. */
export function exchangeOf({ exchanges }: RecordedEngine, name: string): RecordedExchange {
  const found = exchanges.find((exchange) => exchange.name === name);
  if (found === undefined) throw new Error(`No recorded exchange is called ${name}.`);
  return found;
}

/** The whole body of a recorded answer. */
export const bodyOf = ({ response }: RecordedExchange): string => response.chunks.map(([, text]) => text).join("");
