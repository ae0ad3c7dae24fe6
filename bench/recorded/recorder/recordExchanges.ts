import type { RecordedExchange } from "@/server/engines/testing/recordedEngine";
import { anonymousExchange } from "./anonymous";
import { type Question, recordExchange } from "./recordExchange";
import type { RecordingFiles } from "./recordingFiles";

/** Questions at a time: on a busy machine, a step of the engine costs the same for several. */
const AT_A_TIME = 4;

export interface ExchangeRecording {
  readonly url: string;
  readonly questions: readonly Question[];
  readonly files: RecordingFiles;
  readonly anonymous: (text: string) => string;
  /** Answers that are kept: their questions are not asked again. */
  readonly kept?: readonly RecordedExchange[];
}

/**
 * Records the answers to all questions, in their order. What is recorded is on disk after each answer.
 * @returns the number of exchanges and the bytes of their file.
 * @throws if the engine does not answer.
 */
export async function recordExchanges(recording: ExchangeRecording): Promise<{ readonly exchanges: number; readonly bytes: number }> {
  const { url, questions, files, anonymous, kept = [] } = recording;
  const done = new Map(kept.map((exchange) => [exchange.name, exchange]));
  const exchanges = () => questions.flatMap(({ name }) => done.get(name) ?? []);
  const open = questions.filter(({ name }) => !done.has(name));
  const worker = async (): Promise<void> => {
    for (let question = open.shift(); question !== undefined; question = open.shift()) {
      done.set(question.name, anonymousExchange(await recordExchange(url, question), anonymous));
      files.exchanges(exchanges());
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return { exchanges: exchanges().length, bytes: files.exchanges(exchanges()) };
}
