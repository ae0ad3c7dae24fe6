"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField } from "../ui/Field";
import { PermittedButton } from "../ui/PermittedButton";

/** Sets an operator's mean time of a call in place of the measured one, and removes it. */
export function EnterJudgeTime(props: {
  /** null: plans use the measured time. */
  readonly entered: number | null;
  /** Initial value of the field. */
  readonly begin: number;
  readonly onEnter: (secondsPerCall: number | null) => Promise<void>;
}) {
  const [typed, setTyped] = useState<number | null>(null);
  const enter = useMutation({ mutationFn: props.onEnter, onSuccess: () => setTyped(null) });
  const value = typed ?? props.entered ?? Number(props.begin.toPrecision(2));
  return (
    <>
      <NumberField
        label="Time of a call, entered"
        unit="s"
        {...JUDGE_SECONDS_BOUNDS}
        step={0.001}
        value={value}
        onChange={(seconds) => setTyped(seconds)}
      />
      <PermittedButton permission="operate" disabled={enter.isPending || value === props.entered} onClick={() => enter.mutate(value)}>
        Plan with this time
      </PermittedButton>
      {props.entered !== null && (
        <PermittedButton permission="operate" look="quiet" disabled={enter.isPending} onClick={() => enter.mutate(null)}>
          Plan as measured
        </PermittedButton>
      )}
      <ErrorLine error={enter.error} />
    </>
  );
}
