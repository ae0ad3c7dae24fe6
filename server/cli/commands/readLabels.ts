import { createReadStream, existsSync } from "node:fs";
import { basename } from "node:path";
import type { GivenLabel } from "@/server/answerLabels/usableLabels";
import type { Outcome } from "@/server/contracts/studio";
import { MOST_ANSWER_LABELS } from "@/server/contracts/studio/answerLabels";
import { readCsv } from "@/server/planning/imports/readCsv";

const columns = ["decision_id", "quality", "model"] as const;

/**
 * Labels of served answers from a CSV file with the columns decision_id, quality (0 to 100) and, for an answer of an earlier stage, model.
 *
 * @returns each with its line; a refusal where a row is no label. Whether a label can count is for the gateway's records to say.
 */
export async function readLabels(file: string): Promise<Outcome<{ readonly labels: readonly GivenLabel[] }>> {
  if (!existsSync(file)) return { ok: false, message: `There is no file ${file}.` };
  let [idAt, qualityAt, modelAt] = [-1, -1, -1];
  const labels: GivenLabel[] = [];
  const read = await readCsv(
    { name: basename(file), stream: createReadStream(file) },
    {
      header(names) {
        [idAt, qualityAt, modelAt] = columns.map((column) => names.indexOf(column)) as [number, number, number];
        const missing = columns.slice(0, 2).filter((column) => !names.includes(column));
        return missing.length === 0 ? null : `the column ${missing.join(" and the column ")} is missing`;
      },
      row(cells, line) {
        const [decisionId = "", quality = "", model = ""] = [cells[idAt], cells[qualityAt], cells[modelAt]].map((cell) => cell?.trim());
        const value = quality === "" ? Number.NaN : Number(quality);
        if (decisionId === "") return "decision_id is empty";
        if (!(value >= 0 && value <= 100)) return "quality must be a number from 0 to 100";
        if (labels.length === MOST_ANSWER_LABELS) return { end: `a file has at most ${MOST_ANSWER_LABELS} labels` };
        labels.push({ decisionId, quality: value, line, ...(model !== "" && { model }) });
        return null;
      },
    },
  );
  if (!read.ok) return read;
  return labels.length === 0 ? { ok: false, message: `${basename(file)} has no labels.` } : { ok: true, labels };
}
