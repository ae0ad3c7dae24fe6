import type { z } from "zod";
import { shownText } from "@/solver/wording/shellText";

/** The first fault of a document, in one sentence that begins with its field; names in it are only shown. */
export function issueSentence({ issues: [issue] }: z.ZodError, whole = "The document"): string {
  const field = issue === undefined || issue.path.length === 0 ? whole : issue.path.join(".");
  return shownText(`${field}: ${(issue?.message ?? "it does not fit").replace(/\.$/, "")}.`);
}
