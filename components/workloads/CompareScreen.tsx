"use client";

import { useQuery } from "@tanstack/react-query";
import type { WorkloadComparison, WorkloadSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { Button, buttonClass } from "../ui/Button";
import { Check } from "../ui/Check";
import { SelectField } from "../ui/Field";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { codecOf, flag, named, text, type ViewOf } from "../url/addressFields";
import { useUrlView } from "../url/useUrlView";
import { OriginBadges } from "./OriginBadges";
import { type ComparisonRow, commonText, nameOf, onlyApart, prepareComparison, prepareLineage } from "./prepareComparison";

/** The two compared workloads, and whether only differences are shown. */
const compareCodec = codecOf({ a: text(), b: text(), onlyApart: named("rows", flag("apart")) });
type CompareView = ViewOf<typeof compareCodec>;

const tones: Readonly<Record<ComparisonRow["verdict"], string>> = {
  apart: "font-semibold text-accent",
  "within noise": "text-ink-3",
  "the same": "text-ink-3",
  "only in one": "font-semibold text-warn",
};

/** Two workloads side by side: which figures differ by more than the sampling error. */
export function CompareScreen() {
  const trpc = useTRPC();
  const [view, write] = useUrlView(compareCodec);
  const { a, b } = view;
  const list = useQuery(trpc.workloads.list.queryOptions());
  const query = useQuery(
    trpc.workloads.compare.queryOptions({ a: a ?? "", b: b ?? "" }, { enabled: a !== null && b !== null, retry: false }),
  );
  const unchosen: PanelStatus = { kind: "empty", title: "Choose two workloads", text: "Choose them above, or tick two in the list." };
  const status = a === null || b === null ? unchosen : queryStatus(query, { what: "Comparing" });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Compare workloads">
        <ClusterLink to="/workloads" className={`${buttonClass("quiet")} ml-auto`}>
          All workloads
        </ClusterLink>
      </PageHeader>
      <div className="flex flex-wrap items-end gap-3">
        <Chooser label="A" value={a} list={list.data ?? []} onChange={(id) => write({ a: id }, "replace")} />
        <Button aria-label="Swap A and B" disabled={a === null && b === null} onClick={() => write({ a: b, b: a }, "replace")}>
          ⇄
        </Button>
        <Chooser label="B" value={b} list={list.data ?? []} onChange={(id) => write({ b: id }, "replace")} />
      </div>
      <PanelState status={status}>
        {() =>
          query.data !== undefined && (
            <Compared comparison={query.data} view={view} onOnlyApart={(on) => write({ onlyApart: on }, "replace")} />
          )
        }
      </PanelState>
    </div>
  );
}

function Chooser(props: {
  readonly label: string;
  readonly value: string | null;
  readonly list: readonly WorkloadSummary[];
  readonly onChange: (id: string | null) => void;
}) {
  const { value, list } = props;
  const missing = value !== null && !list.some(({ id }) => id === value);
  return (
    <SelectField
      label={`Workload ${props.label}`}
      className="min-w-0 flex-1 basis-56"
      value={value ?? ""}
      options={[
        { value: "", text: "choose one" },
        ...(missing ? [{ value, text: "not stored here" }] : []),
        ...list.map((workload) => ({ value: workload.id, text: nameOf(workload) })),
      ]}
      onChange={(id) => props.onChange(id || null)}
    />
  );
}

function Compared(props: {
  readonly comparison: WorkloadComparison;
  readonly view: CompareView;
  readonly onOnlyApart: (on: boolean) => void;
}) {
  const { comparison, view } = props;
  const all = prepareComparison(comparison);
  const sections = view.onlyApart ? onlyApart(all) : all;
  const { a, b } = comparison;
  return (
    <>
      <Panel title="Sources">
        <p className="mb-3 text-sm">{commonText(comparison)}</p>
        <Table
          caption="Sources of the two workloads"
          columns={[
            { key: "name", name: "Part" },
            { key: "a", name: "A" },
            { key: "b", name: "B" },
          ]}
        >
          <tr>
            <th scope="row" className="text-xs text-ink-3">
              Workload
            </th>
            {[a, b].map((workload, at) => (
              <td key={at === 0 ? "a" : "b"} className="min-w-36 align-top">
                <ClusterLink to={`/workloads/${workload.id}`} className="text-accent underline underline-offset-2 [overflow-wrap:anywhere]">
                  {nameOf(workload)}
                </ClusterLink>{" "}
                <OriginBadges workload={workload} />
              </td>
            ))}
          </tr>
          {prepareLineage(comparison).map((row) => (
            <tr key={row.name}>
              <th scope="row" className="text-xs whitespace-nowrap text-ink-3">
                {row.name}
                {row.same && <span className="block font-normal">the same</span>}
              </th>
              <td className={`align-top ${row.same ? "text-ink-3" : ""}`}>{row.a}</td>
              <td className={`align-top ${row.same ? "text-ink-3" : ""}`}>{row.b}</td>
            </tr>
          ))}
        </Table>
      </Panel>
      <Panel
        title="Figures"
        aside={
          <Check checked={view.onlyApart} onChange={props.onOnlyApart}>
            Only differences beyond noise
          </Check>
        }
      >
        {sections.length === 0 ? (
          <p className="text-sm text-ink-2">No figure differs by more than noise.</p>
        ) : (
          <Table
            caption="Figures of both workloads"
            stacked
            columns={[
              { key: "name", name: "Figure" },
              { key: "a", name: "A", numeric: true },
              { key: "b", name: "B", numeric: true },
              { key: "difference", name: "B less A", numeric: true },
              { key: "verdict", name: "Verdict" },
            ]}
          >
            {sections.flatMap(({ key, title, rows }) => [
              <tr key={key} className="bg-sunken/60">
                <th scope="rowgroup" colSpan={5} className="px-2 py-1 text-xs text-ink-2">
                  {title}
                </th>
              </tr>,
              ...rows.map((row) => (
                <tr key={`${key} ${row.key}`} data-verdict={row.verdict}>
                  <td className="min-w-32 [overflow-wrap:anywhere] max-sm:w-full max-sm:font-medium">{row.name}</td>
                  <td className="text-right whitespace-nowrap" data-name="A">
                    {row.a}
                  </td>
                  <td className="text-right whitespace-nowrap" data-name="B">
                    {row.b}
                  </td>
                  <td className="text-right whitespace-nowrap" data-name={row.difference === null ? undefined : "B less A"}>
                    {row.difference}
                  </td>
                  <td className={`whitespace-nowrap ${tones[row.verdict]}`}>{row.verdict}</td>
                </tr>
              )),
            ])}
          </Table>
        )}
        <p className="mt-3 max-w-prose text-xs text-ink-3">
          Means with half their 90 % intervals. Beyond noise: more than the number of prompts explains. One in ten chance differences is
          marked too.
        </p>
      </Panel>
    </>
  );
}
