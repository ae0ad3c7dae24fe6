import type { LabReplicas, LabSuggestion, LabSystem } from "@/server/contracts/studio";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { bareSystem, isSameSystem, lackingModels, ownSystems } from "./composeSystem";
import { prepareSystems, systemText } from "./prepareSystems";

function Refusal({
  system,
  replicas,
  known,
}: {
  readonly system: LabSystem;
  readonly replicas: readonly LabReplicas[];
  readonly known: boolean;
}) {
  // A model without engines is reported once for all systems, above them.
  const refusal = known && lackingModels([system], replicas).length > 0 ? null : systemRefusal(system, replicas);
  return refusal !== null && <p className="text-xs text-bad [overflow-wrap:anywhere]">{refusal}</p>;
}

/** Systems to race: the suggested ones, selected or not, and the operator's own. */
export function SystemList(props: {
  readonly systems: readonly LabSystem[];
  readonly suggested: LabSuggestion["systems"];
  readonly replicas: readonly LabReplicas[];
  readonly onSystems: (systems: LabSystem[]) => void;
}) {
  const { systems, suggested, replicas, onSystems } = props;
  const own = ownSystems(systems, suggested);
  // Without a suggestion, no system can be identified as suggested.
  const known = suggested.length > 0;
  const chosen = (each: LabSystem) => systems.find((system) => isSameSystem(each, system));
  const marks = prepareSystems(suggested);
  const toggle = (index: number, on: boolean) => {
    const next = suggested.flatMap((each, at) => {
      const kept = chosen(each);
      if (at === index) return on ? [bareSystem(each)] : [];
      return kept === undefined ? [] : [kept];
    });
    onSystems([...next, ...own]);
  };
  return (
    <>
      <ul aria-label="Systems" className="grid list-none gap-x-8 lg:grid-cols-2">
        {suggested.map((each, index) => {
          const kept = chosen(each);
          return (
            <li key={JSON.stringify([each.name, marks[index]?.variant])} className="min-w-0 border-b py-1">
              <Check
                checked={kept !== undefined}
                disabled={kept !== undefined && systems.length === 1}
                onChange={(checked) => toggle(index, checked)}
              >
                {marks[index]?.label}
              </Check>
              <p className="pl-6 text-xs text-ink-3">{each.about}</p>
              {kept !== undefined && <Refusal system={kept} replicas={replicas} known />}
            </li>
          );
        })}
      </ul>
      {own.length > 0 && (
        <ul aria-label={known ? "Systems of your own" : "Systems of this description"} className="flex list-none flex-col">
          {own.map((system, index) => (
            <li key={index} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b py-1 text-sm">
              {known && (
                <Badge>{system.replicas === undefined && lackingModels([system], replicas).length > 0 ? "no engine" : "your own"}</Badge>
              )}
              <span className="font-medium">{system.name}</span>
              <span className="min-w-0 flex-1 basis-60 text-xs text-ink-3 [overflow-wrap:anywhere]">{systemText(system)}</span>
              <Button
                look="quiet"
                aria-label={`Leave out ${system.name}`}
                disabled={systems.length === 1}
                onClick={() => onSystems(systems.filter((each) => each !== system))}
              >
                Leave out
              </Button>
              <div className="basis-full">
                <Refusal system={system} replicas={replicas} known={known} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
