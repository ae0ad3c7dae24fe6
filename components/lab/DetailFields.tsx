import type { LabSpec } from "@/server/contracts/studio";
import { NumberField, SelectField } from "../ui/Field";

const MS = 1000;
const overheads = [
  { key: "routeSeconds", label: "Routing a program" },
  { key: "predictSeconds", label: "Predicting a request" },
  { key: "decideSeconds", label: "Deciding and sending" },
] as const;

/** Rarely changed settings: where requests wait, the age of telemetry, the time of the policy's own work, the price of a GPU. */
export function DetailFields({ spec, onChange }: { readonly spec: LabSpec; readonly onChange: (change: Partial<LabSpec>) => void }) {
  const { aging, overhead } = spec;
  return (
    <div className="flex flex-wrap items-start gap-x-6 gap-y-3 pt-3">
      <SelectField
        label="Requests wait"
        value={spec.queue}
        options={[
          { value: "centre", text: "in the centre, until a batch has room" },
          { value: "engines", text: "in the engines, by priority" },
        ]}
        {...(spec.queue === "centre" && {
          hint: "Suggested orders promote a request once its model has served ten times what its engines hold; a longer queue is first come, first served.",
        })}
        onChange={(queue) =>
          onChange(
            queue === "engines" ? { queue, aging: aging ?? { starvedSteps: 1000, quantumSteps: 100 } } : { queue: "centre", aging: null },
          )
        }
      />
      {spec.queue === "engines" && (
        <>
          <SelectField
            label="Aging in engines"
            value={aging === null ? "off" : "on"}
            options={[
              { value: "on", text: "on" },
              { value: "off", text: "off" },
            ]}
            onChange={(value) => onChange({ aging: value === "on" ? { starvedSteps: 1000, quantumSteps: 100 } : null })}
          />
          {aging !== null && (
            <>
              <NumberField
                label="Steps a request is passed over before it is promoted"
                value={aging.starvedSteps}
                min={1}
                max={1_000_000}
                whole
                onChange={(steps) => onChange({ aging: { ...aging, starvedSteps: steps } })}
              />
              <NumberField
                label="Steps of service before a request is demoted"
                value={aging.quantumSteps}
                min={1}
                max={1_000_000}
                whole
                onChange={(steps) => onChange({ aging: { ...aging, quantumSteps: steps } })}
              />
            </>
          )}
        </>
      )}
      <NumberField
        label="Telemetry is read every"
        unit="s"
        value={spec.telemetrySeconds}
        min={0}
        max={60}
        step={0.5}
        hint="0: always fresh"
        onChange={(telemetrySeconds) => onChange({ telemetrySeconds })}
      />
      {overheads.map(({ key, label }) => (
        <NumberField
          key={key}
          label={label}
          unit="ms"
          value={Math.round(overhead[key] * MS * 1000) / 1000}
          min={0}
          max={5000}
          onChange={(ms) => onChange({ overhead: { ...overhead, [key]: ms / MS } })}
        />
      ))}
      <NumberField
        label="A GPU costs"
        unit="$/h"
        value={Number(spec.usdPerGpuHour.toFixed(3))}
        min={0}
        max={1000}
        step={0.1}
        onChange={(usdPerGpuHour) => onChange({ usdPerGpuHour })}
      />
    </div>
  );
}
