import { Button } from "@/components/ui/Button";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { PlanView } from "../address/planCodec";
import { objectiveRelaxations, type Relaxation, relaxations } from "./relaxations";

type Infeasible = Extract<SolveAnswer, { outcome: "infeasible" }>;

/** Why no plan meets the request, which constraints conflict, and for each one a button that relaxes it. */
export function NoPlan(props: {
  readonly title: string;
  readonly answer: Pick<Infeasible, "reason" | "bestQuality" | "bestLatencySeconds" | "conflict">;
  readonly view: PlanView;
  readonly knobs: Knobs;
  readonly onChange: (change: Partial<PlanView>, how: "push" | "replace") => void;
}) {
  const { answer, view } = props;
  const conflict = answer.conflict ?? [];
  const ways = objectiveRelaxations(props.knobs, answer);
  return (
    <section aria-label={props.title} className="mx-auto flex max-w-3xl flex-col gap-3 py-4">
      <p className="text-sm font-medium">{props.title}</p>
      <p role="status" className="text-sm text-ink-2">
        {answer.reason}
      </p>
      {conflict.length > 0 && (
        <>
          <h3 className="mt-1 text-sm font-semibold">{conflict.length === 1 ? "Possible changes" : "Change one of these"}</h3>
          <ul aria-label="Constraints that conflict" className="flex list-none flex-col divide-y rounded-md border">
            {conflict.map((constraint) => (
              <li key={`${constraint.kind} ${constraint.says}`} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3 py-2">
                <span className="min-w-48 flex-1 text-sm">
                  {constraint.says}
                  <span className="block text-xs text-ink-3">{constraint.needs}</span>
                </span>
                <Ways ways={relaxations(view, constraint)} about={constraint.says} onChange={props.onChange} />
              </li>
            ))}
          </ul>
        </>
      )}
      {ways.length > 0 && <Ways ways={ways} about={null} onChange={props.onChange} />}
    </section>
  );
}

function Ways(props: {
  readonly ways: readonly Relaxation[];
  /** The subject of the buttons, where their text alone is ambiguous to a screen reader. */
  readonly about: string | null;
  readonly onChange: (change: Partial<PlanView>, how: "push" | "replace") => void;
}) {
  return (
    <span className="flex flex-wrap gap-2">
      {props.ways.map(({ says, change }) => (
        <Button
          key={says}
          {...(props.about !== null && { "aria-label": `${says}: ${props.about}` })}
          onClick={() => props.onChange(change, "push")}
        >
          {says}
        </Button>
      ))}
    </span>
  );
}
