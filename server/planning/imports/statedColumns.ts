import type { Outcome } from "@/server/contracts/studio";
import type { ComparedAnswers } from "@/solver/gates/gateDocument";
import { resolveModel } from "@/solver/hardware/aliases";
import type { LabelledTable } from "@/solver/workload/applyJudge";
import type { ModelNames } from "@/solver/workload/collectedTable";
import type { ImportedColumn } from "@/solver/workload/gateColumns";
import type { WorkloadOrigin } from "@/solver/workload/workload";

/** What the gate columns of a table hold, which the table itself does not say. */
export type StatedColumns = Pick<WorkloadOrigin, "confidence" | "agreement">;

/**
 * What a workload's origin says of its gate columns.
 *
 * @param said peers by card or by their names in the table.
 * @param names of the table's models, for those of peers.
 * @returns the problem in a sentence where the table does not have such a column, or the comparison names no answers or an unknown model.
 */
export function statedColumns(table: LabelledTable, said: StatedColumns, names: ModelNames): Outcome<{ readonly stated: StatedColumns }> {
  const { confidence, agreement } = said;
  const lacks = (column: ImportedColumn): boolean => table.models.every((model) => model[column] === undefined);
  const absent = (
    [
      ["confidence", confidence],
      ["agreement", agreement],
    ] as const
  ).find(([name, held]) => held !== undefined && lacks(name));
  if (absent !== undefined)
    return { ok: false, message: `It is said what the column ${absent[0]} holds, and no model of the table has that column.` };
  const compared = agreement === undefined ? null : withCards(agreement, names);
  if (compared?.ok === false) return compared;
  return {
    ok: true,
    stated: { ...(confidence === undefined ? {} : { confidence }), ...(compared === null ? {} : { agreement: compared.compared }) },
  };
}

/** The comparison with the cards of its peers. */
function withCards(
  { answer, samples, peers = [] }: ComparedAnswers,
  { aliases, models }: ModelNames,
): Outcome<{ readonly compared: ComparedAnswers }> {
  if (samples === undefined && peers.length === 0)
    return { ok: false, message: "Agreement compares an answer with samples of its model or with answers of peers: say which." };
  const cards: string[] = [];
  for (const peer of peers) {
    const card = resolveModel(peer, aliases, models);
    if (card === undefined) return { ok: false, message: `There is no model card for the peer "${peer}" of the column agreement.` };
    cards.push(card);
  }
  return {
    ok: true,
    compared: { answer, ...(samples === undefined ? {} : { samples }), ...(cards.length === 0 ? {} : { peers: cards }) },
  };
}
