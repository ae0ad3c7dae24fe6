import { boxed, choice, lastLine, lastNumber } from "@/solver/judging/extract";
import { afterThinking } from "@/solver/judging/readReply";
import { canonicalNumber, canonicalText } from "./canonicalVote";
import type { Extraction } from "./ensembleDocument";
import { patternReader } from "./votePattern";

/** Maximum length of a vote: a vote is an answer, not an essay, and longer ones would hardly ever be equal. */
const LONGEST_VOTE = 1000;

/** Number of characters at the end of an answer, without its thinking, that are read: some 16,000 tokens, and votes are at the end. */
const READ = 65_536;

/**
 * Reads the vote from an expert's answer (Extract of MOSAIC, algorithm 1): equal answers give equal texts, however they are written; the
 * find of a pattern is taken unchanged. A model's thinking before it answers does not count, nor anything before the last 65,536 characters
 * (with patterns 16,384), so that no answer blocks the reader for long.
 *
 * @returns a function from an answer to its vote, null where there is none; one that never finds any where `extractionProblem` returns a
 * problem.
 */
export function voteReader(extraction: Extraction): (text: string) => string | null {
  const read = readerOf(extraction);
  return (text) => {
    const vote = read(afterThinking(text).slice(-READ));
    return vote === null || vote === "" || vote.length > LONGEST_VOTE ? null : vote;
  };
}

/**
 * Compares votes with references. A reference may be a whole answer, whose vote counts; a bare one, from which the extraction reads
 * nothing, as patterns usually do, and which is taken in the form in which it would be found; or a vote.
 *
 * @returns a function that returns whether a vote is right, false without a vote; null where there is no reference.
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

/** The form of a bare answer as a vote. */
function writerOf(extraction: Extraction): (bare: string) => string {
  // Choices are the only votes in capitals.
  if (extraction.kind === "choice") return (bare) => canonicalText(bare).toUpperCase();
  const pattern = extraction.kind === "pattern" ? patternReader(extraction.pattern) : null;
  return pattern?.ok === true ? pattern.written : canonicalText;
}
