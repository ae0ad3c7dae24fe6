import type { ReactNode } from "react";
import { Table } from "./Table";

interface DataColumn<Row> {
  readonly name: string;
  /** Its name beside a value where the rows of a `stacked` table become blocks; left out: `name`. */
  readonly shortName?: string;
  /** Right-aligned, on one line, and labelled where the table is `stacked`. */
  readonly numeric?: boolean;
  /** Whether its cells show the column's name where the rows of a `stacked` table become blocks. */
  readonly labelled?: boolean;
  /** Classes of its cells. */
  readonly className?: string;
  readonly cell: (row: Row) => ReactNode;
}

/** A table whose columns are data. A column that is `false` is left out. Tables with rows of several kinds use `Table`. */
export function DataTable<Row>(props: {
  readonly caption: string;
  readonly columns: readonly (DataColumn<Row> | false)[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string | number;
  readonly rowClass?: string;
  readonly stacked?: boolean;
}) {
  const columns = props.columns.filter((column) => column !== false);
  return (
    <Table
      caption={props.caption}
      columns={columns.map(({ name, numeric = false }) => ({ key: name, name, numeric }))}
      stacked={props.stacked ?? false}
    >
      {props.rows.map((row) => (
        <tr key={props.rowKey(row)} className={props.rowClass}>
          {columns.map(({ name, shortName = name, numeric = false, labelled = numeric, className = "", cell }) => (
            <td
              key={name}
              data-name={props.stacked && labelled ? shortName : undefined}
              className={`${numeric ? "text-right whitespace-nowrap" : ""} ${className}`}
            >
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
