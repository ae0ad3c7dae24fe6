import type { EncoderReply } from "./encoder";
import { loadNetwork } from "./network";

/**
 * Entry of a process that runs the encoder of the given folder: reports whether it could load it, then embeds the texts that it receives.
 */
const tell = (reply: EncoderReply): void => void process.send?.(reply);
const problemOf = (problem: unknown): EncoderReply => ({ problem: problem instanceof Error ? problem.message : String(problem) });

// Whoever started it is gone, or has ended it.
process.on("disconnect", () => process.exit());
try {
  const { identity, embed } = await loadNetwork(process.argv[2] ?? "");
  process.on("message", (texts: readonly string[]) => void embed(texts).then(tell, (problem) => tell(problemOf(problem))));
  tell(identity);
} catch (problem) {
  tell(problemOf(problem));
}
