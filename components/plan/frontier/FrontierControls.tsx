import { axisTexts, type FrontierAxes } from "@/components/charts/frontierAxes";
import type { Brush } from "@/components/charts/frontierBrush";
import { Button } from "@/components/ui/Button";
import { SelectField } from "@/components/ui/Field";
import { type PlanAxis, planAxes } from "@/solver/cascade/explore/paretoFront";
import type { FrontierView } from "../address/frontierCodec";

const options = planAxes.map((axis) => ({ value: axis, text: axisTexts[axis].name }));
const axisOf = (value: string): PlanAxis => planAxes.find((axis) => axis === value) ?? "quality";

/** The chart's axes. Choosing the other axis's quantity swaps the two. */
export function FrontierControls(props: {
  readonly view: FrontierView;
  readonly onView: (change: Partial<FrontierView>, how: "push" | "replace") => void;
}) {
  const { xAxis, yAxis, baselines } = props.view;
  // The rectangle has no meaning on other axes.
  const pick = (change: Pick<FrontierView, "xAxis" | "yAxis">) => props.onView({ ...change, brush: null }, "push");
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
      <SelectField
        label="Y axis"
        value={yAxis}
        options={options}
        onChange={(value) => pick({ yAxis: axisOf(value), xAxis: axisOf(value) === xAxis ? yAxis : xAxis })}
      />
      <SelectField
        label="X axis"
        value={xAxis}
        options={options}
        onChange={(value) => pick({ xAxis: axisOf(value), yAxis: axisOf(value) === yAxis ? xAxis : yAxis })}
      />
      <Button aria-pressed={baselines} onClick={() => props.onView({ baselines: !baselines }, "push")}>
        {baselines ? "Hide baselines" : "Show baselines"}
      </Button>
    </div>
  );
}

/** The rectangle that filters the table, and the button that clears it. */
export function BrushChip(props: {
  readonly brush: Brush;
  readonly axes: FrontierAxes;
  readonly plans: string;
  readonly onClear: () => void;
}) {
  const range = (along: "x" | "y") => {
    const { name, format } = axisTexts[props.axes[along]];
    const [low, high] = props.brush[along];
    return `${name} ${format(low)} to ${format(high)}`;
  };
  return (
    <p
      className="inline-flex w-fit items-center gap-2 rounded-md bg-accent-soft py-0.5 pr-1 pl-2 text-xs text-accent"
      data-testid="brush-chip"
    >
      <span role="status">
        {props.plans} in {range("x")}, {range("y")}
      </span>
      <button type="button" aria-label="Clear the range" className="size-6 rounded text-sm hover:bg-panel" onClick={props.onClear}>
        ×
      </button>
    </p>
  );
}
