"use client";

import { memo, useState } from "react";
import type { CascadePolicy } from "@/solver/plan/plan";
import { Button } from "../ui/Button";
import { ControlSection } from "./ControlSection";
import { GraceForm } from "./GraceForm";

/** Whether thresholds may fall under overload, and the form that makes a plan in which they may, or may not. */
export const GraceSection = memo(function GraceSection(props: { readonly planId: string; readonly policy: CascadePolicy }) {
  const { planId, policy } = props;
  const [open, setOpen] = useState(false);
  return (
    <ControlSection
      testId="grace-control"
      title="Grace"
      wide={open}
      error={null}
      says={
        <span>
          {policy.grace === undefined
            ? "off: thresholds stay as they are under overload"
            : `thresholds fall while more than ${policy.grace.waiting} requests wait for a later stage`}
        </span>
      }
      action={
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close grace" : "Change grace"}
        </Button>
      }
    >
      {open && <GraceForm key={planId} planId={planId} />}
    </ControlSection>
  );
});
