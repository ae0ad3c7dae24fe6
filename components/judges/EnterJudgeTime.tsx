"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField } from "../ui/Field";

/** Takes an operator's mean time of a call in place of the measured one, and gives it up again. */
export function EnterJudgeTime(props: {
  /** null: plans take the measured time. */
  readonly entered: number | null;
  /** Where the number begins. */
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
      <Button disabled={enter.isPending || value === props.entered} onClick={() => enter.mutate(value)}>
        Plan with this time
      </Button>
      {props.entered !== null && (
        <Button look="quiet" disabled={enter.isPending} onClick={() => enter.mutate(null)}>
          Plan as measured
        </Button>
      )}
      <ErrorLine error={enter.error} />
    </>
  );
}
