import { Table } from "../ui/Table";
import type { ControlFiguresView } from "./prepareControlFigures";

const columns = [
  { key: "name", name: "Figure" },
  { key: "inForce", name: "In force", numeric: true },
  { key: "chosen", name: "With these values", numeric: true },
] as const;

/** The chosen controls beside those in force. `waiting`: a simulation runs. */
export function ControlFiguresTable({ view, waiting }: { readonly view: ControlFiguresView; readonly waiting: boolean }) {
  return (
    <div className="flex flex-col gap-1.5" data-testid="control-forecast">
      <Table caption="Forecast of the controls" columns={columns}>
        {view.rows.map(({ key, name, inForce, chosen }) => (
          <tr key={key}>
            <td>{name}</td>
            <td className="text-right tabular-nums">{inForce}</td>
            <td className="text-right tabular-nums">{chosen}</td>
          </tr>
        ))}
      </Table>
      <p className="text-xs text-ink-3">
        {view.says}
        {waiting && " Simulating on the engines that serve now …"}
      </p>
    </div>
  );
}
