import { boxed, choice, lastLine, lastNumber } from "@/solver/judging/extract";
import { afterThinking } from "@/solver/judging/readReply";
import { canonicalNumber, canonicalText } from "./canonicalVote";
import type { Extraction } from "./ensembleDocument";
import { patternReader } from "./votePattern";

/** A vote is an answer, not an essay: two that are longer would hardly ever be the same. */
const LONGEST_VOTE = 1000;

/** Characters at the end of an answer, what it thinks left out, that are read: some 16,000 tokens, after which nobody comes back to a vote. */
const READ = 65_536;

/**
 * Reads an expert's vote off its answer (Extract of MOSAIC, algorithm 1): equal answers give equal texts, whatever they are written like; what a
 * pattern finds is taken as it stands. What a model thinks before it answers does not count, nor what stands before the last 65,536 characters (of patterns
 * 16,384), so that no answer keeps who reads it for long.
 *
 * @returns a function from an answer to its vote, null where there is none; one that never finds any where `extractionProblem` has something to say.
 */
export function voteReader(extraction: Extraction): (text: string) => string | null {
  const read = readerOf(extraction);
  return (text) => {
    const vote = read(afterThinking(text).slice(-READ));
    return vote === null || vote === "" || vote.length > LONGEST_VOTE ? null : vote;
  };
}

/**
 * Holds votes against references. A reference may be a whole answer, whose vote counts; a bare one, off which the extraction reads nothing, as patterns
 * usually do, and which is taken as it would be found; or a vote.
 *
 * @returns a function that tells whether a vote is right, which none is not; null where there is no reference.
 */
export function voteJudge(extraction: Extraction): (vote: string | null, reference: string | null) => boolean | null {
  const read = voteReader(extraction);
  const written = writerOf(extraction);
  return (vote, reference) => {
    if (reference === null || vote === null) return reference === null ? null : false;
    return vote === reference || vote === (read(reference) ?? written(reference));
  };
}

/** Why a document's extraction cannot be used, in one sentence; null: it can. */
export function extractionProblem(extraction: Extraction): string | null {
  if (extraction.kind !== "pattern") return null;
  const pattern = patternReader(extraction.pattern);
  return pattern.ok ? null : pattern.problem;
}

function readerOf(extraction: Extraction): (text: string) => string | null {
  const canonical = (text: string | null): string | null => text && canonicalText(text);
  switch (extraction.kind) {
    case "choice":
      return choice;
    case "number":
      return (text) => {
        const number = lastNumber(text);
        return number && canonicalNumber(number);
      };
    case "boxed":
      return (text) => canonical(boxed(text));
    case "text":
      return (text) => canonical(lastLine(text));
    case "pattern": {
      const pattern = patternReader(extraction.pattern);
      return pattern.ok ? pattern.read : () => null;
    }
  }
}

/** How a bare answer is written as a vote. */
function writerOf(extraction: Extraction): (bare: string) => string {
  // Choices are the only votes in capitals.
  if (extraction.kind === "choice") return (bare) => canonicalText(bare).toUpperCase();
  const pattern = extraction.kind === "pattern" ? patternReader(extraction.pattern) : null;
  return pattern?.ok === true ? pattern.written : canonicalText;
}
