import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import { type AgentChoice, cellWords } from "./prepareLattice";

/** For each agent the model that it got, and those that it may still get. */
export function ChoicesTable(props: {
  readonly choices: readonly AgentChoice[];
  readonly models: readonly string[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  const { choices, models, identities } = props;
  return (
    <div data-testid="choices">
      <Table
        caption="Models of each agent: chosen, possible, ruled out"
        columns={[{ key: "agent", name: "Agent" }, ...models.map((model) => ({ key: model, name: model }))]}
      >
        {choices.map(({ agent, cells }) => (
          <tr key={agent}>
            <td className="font-medium">{agent}</td>
            {models.map((model) => {
              const cell = cells.find((each) => each.model === model);
              if (cell === undefined) return <td key={model} />;
              const { sign, word } = cellWords[cell.state];
              const identity = identities.get(model);
              const isChosen = cell.state === "chosen";
              return (
                <td key={model} className={isChosen ? "bg-accent-soft font-medium" : cell.state === "possible" ? "" : "text-ink-3"}>
                  <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
                    {isChosen && identity !== undefined ? (
                      <ModelMark identity={identity} />
                    ) : (
                      <span aria-hidden="true" className={`w-3 text-center ${cell.state === "possible" ? "text-accent" : ""}`}>
                        {sign}
                      </span>
                    )}
                    <span>{word}</span>
                  </span>
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
    </div>
  );
}
