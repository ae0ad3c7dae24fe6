"use client";

import { useState } from "react";
import type { LabSystem } from "@/server/contracts/studio";
import { useLabAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { usePlanChoices } from "../routing/usePlanChoices";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField } from "../ui/Field";
import { repeatRefusal } from "./composeSystem";
import { planSystem } from "./planSystem";

/** A saved plan as a system: its policy on its own engines. */
export function PlanPicker(props: {
  readonly clusterId: string;
  /** The systems of the race. */
  readonly systems: readonly LabSystem[];
  readonly onAdd: (system: LabSystem) => void;
}) {
  const { clusterId, systems, onAdd } = props;
  const client = useTRPCClient();
  const choices = usePlanChoices(clusterId, true);
  const [picked, setPicked] = useState("");
  const planId = picked === "" ? choices[0]?.option.value : picked;
  const add = useLabAct(
    async (id: string) => {
      const system = planSystem((await client.plans.get.query({ planId: id })).plan);
      const message = repeatRefusal(system, systems);
      return message === null ? { ok: true as const, system } : { ok: false as const, message };
    },
    ({ system }) => onAdd(system),
  );
  if (planId === undefined)
    return <p className="text-xs text-ink-3">A plan saved on the Plan page can be raced here, on its own engines.</p>;
  return (
    <div className="flex flex-wrap items-end gap-3">
      <SelectField
        className="w-96 max-w-full"
        label="Saved plan, on its own engines"
        value={planId}
        options={choices.map(({ option }) => option)}
        onChange={setPicked}
      />
      <Button disabled={add.isPending} onClick={() => add.mutate(planId)}>
        Add this plan
      </Button>
      <ErrorLine error={add.error} />
    </div>
  );
}
