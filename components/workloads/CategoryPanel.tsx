import type { WorkloadDetail } from "@/server/contracts/studio";
import { formatCount } from "../ui/format";
import { Panel } from "../ui/Panel";
import { Table } from "../ui/Table";
import { prepareCategories } from "./prepareWorkload";

/** The darkest cell stays light enough for its text in both themes. */
const DARKEST_PERCENT = 32;

/** Quality of each model in each category: where the smaller one suffices. */
export function CategoryPanel({ detail }: { readonly detail: WorkloadDetail }) {
  const rows = prepareCategories(detail);
  const named = detail.categories.reduce((sum, { categories }) => sum + categories, 0);
  return (
    <Panel title="Categories" aside={<span>{named === 1 ? "one category" : `${formatCount(named)} categories`}</span>}>
      <Table
        caption="Quality by category and model"
        columns={[
          { key: "name", name: "Category" },
          { key: "prompts", name: "Prompts", numeric: true },
          { key: "share", name: "Share", numeric: true },
          ...detail.models.map(({ model }) => ({ key: model, name: model, numeric: true })),
        ]}
      >
        {rows.map((row) => (
          <tr key={row.key}>
            <td className="min-w-28 [overflow-wrap:anywhere]">{row.name}</td>
            <td className="text-right">{row.prompts}</td>
            <td className="text-right text-ink-2">{row.share}</td>
            {row.cells.map((cell, column) => (
              <td
                key={detail.models[column]?.model}
                className="text-right whitespace-nowrap"
                style={{ background: `color-mix(in oklab, var(--accent) ${Math.round(cell.heat * DARKEST_PERCENT)}%, transparent)` }}
              >
                {cell.text}
                {cell.word !== null && <span className="block text-xs text-ink-2">{cell.word} its mean</span>}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
