import { fork } from "node:child_process";
import { once } from "node:events";
import type { EncoderIdentity } from "@/solver/prediction/confidence";

/** Texts that go through the network together, of like lengths since the shorter ones are filled up to the longest. */
const TEXTS_A_BATCH = 16;

/** Vectors of texts, one after another. */
export interface Embedded {
  readonly dimensions: number;
  readonly values: Float32Array;
}

/** What an encoder's process says: first who it is, then what it makes of each batch of texts; or why not, in a sentence. */
export type EncoderReply = EncoderIdentity | Embedded | { readonly problem: string };

/** A text encoder that runs. */
export interface Encoder extends EncoderIdentity {
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>;
  /**
   * The mean of each text's token vectors, one text after another. Only one call at a time.
   *
   * @param onDone called with the number of finished texts.
   * @throws Error, in a sentence, if the network gives something else than a vector for every token, or its process ended.
   */
  embed(texts: readonly string[], onDone?: (texts: number) => void): Promise<Embedded>;
  close(): void;
}

/**
 * Runs an ONNX encoder, for example of the ModernBERT class, from a local folder. It has its own process: a thread that is ended while its
 * network computes ends the whole process, and so would a network for which there is no memory. The process ends with this one or this
 * thread.
 *
 * @param program the bundle of `encoderProcess.ts`.
 * @throws Error, in one sentence with the remedy: the package is not installed, a file is missing, the network cannot be loaded.
 */
export async function loadEncoder(folder: string, program: string): Promise<Encoder> {
  const child = fork(program, [folder], { serialization: "advanced", execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    // It could not be started, or its input cannot be sent.
    child.on("error", () => resolve());
  });
  const gone = ended.then((): EncoderReply => ({ problem: `The process of the encoder in ${folder} has ended.` }));

  async function reply(): Promise<Exclude<EncoderReply, { problem: string }>> {
    const said = await Promise.race([once(child, "message").then(([message]) => message as EncoderReply), gone]);
    if (!("problem" in said)) return said;
    throw new Error(said.problem);
  }

  async function batch(texts: readonly string[]): Promise<Embedded> {
    const answered = reply();
    // What cannot be sent is answered by the process's end.
    if (child.connected) child.send(texts, () => undefined);
    const embedded = await answered;
    if ("values" in embedded) return embedded;
    throw new Error(`The process of the encoder in ${folder} says something else than was asked.`);
  }

  const close = (): void => void child.kill();
  try {
    const identity = await reply();
    if ("values" in identity) throw new Error(`The process of the encoder in ${folder} says something else than was asked.`);
    return { ...identity, ended, embed, close };
  } catch (problem) {
    close();
    throw problem;
  }

  async function embed(texts: readonly string[], onDone: (texts: number) => void = () => undefined): Promise<Embedded> {
    const order = Array.from(texts.keys()).sort((a, b) => (texts[a]?.length ?? 0) - (texts[b]?.length ?? 0) || a - b);
    let values = new Float32Array();
    let dimensions = 0;
    for (let from = 0; from < order.length; from += TEXTS_A_BATCH) {
      const places = order.slice(from, from + TEXTS_A_BATCH);
      const means = await batch(places.map((place) => texts[place] ?? ""));
      dimensions = means.dimensions;
      if (from === 0) values = new Float32Array(texts.length * dimensions);
      for (const [at, place] of places.entries())
        values.set(means.values.subarray(at * dimensions, (at + 1) * dimensions), place * dimensions);
      onDone(from + places.length);
    }
    return { dimensions, values };
  }
}
