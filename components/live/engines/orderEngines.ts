import type { Sample } from "@/server/contracts/studio";
import type { EngineColumn, EngineRow } from "./prepareEngines";

/** The sort order of rows; null: the order of the cascade. */
export type EngineOrder = { readonly by: EngineColumn | "kv" | "engine"; readonly descending: boolean } | null;

/** The first click sorts a column largest first, or names from a; the second reverses it; the third removes the sorting. */
export function nextOrder(order: EngineOrder, by: NonNullable<EngineOrder>["by"]): EngineOrder {
  const first = by !== "engine";
  if (order?.by !== by) return { by, descending: first };
  return order.descending === first ? { by, descending: !first } : null;
}

/** Sorted rows; those without a value come last in either direction. */
export function orderEngines(rows: readonly EngineRow[], order: EngineOrder): readonly EngineRow[] {
  if (order === null) return rows;
  const { by, descending } = order;
  const turn = descending ? -1 : 1;
  if (by === "engine") return rows.toSorted((a, b) => turn * a.engine.id.localeCompare(b.engine.id, "en", { numeric: true }));
  const figureOf = ({ engine, cells }: EngineRow): Sample => (by === "kv" ? engine.kvUse : cells[by].value);
  return rows.toSorted((a, b) => {
    const [one, other] = [figureOf(a), figureOf(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return turn * (one - other);
  });
}

/** Whether two rows draw alike, so that a redraw can be skipped. */
export function drawsAlike(a: EngineRow, b: EngineRow): boolean {
  return (
    a.engine.id === b.engine.id &&
    a.identity === b.identity &&
    a.build === b.build &&
    a.health.word === b.health.word &&
    a.since.text === b.since.text &&
    a.telemetry?.text === b.telemetry?.text &&
    a.telemetry?.reason === b.telemetry?.reason &&
    (Object.keys(a.cells) as EngineColumn[]).every(
      (column) => a.cells[column].text === b.cells[column].text && a.cells[column].title === b.cells[column].title,
    ) &&
    a.kvUse.length === b.kvUse.length &&
    a.kvUse.every((value, at) => value === b.kvUse[at])
  );
}
