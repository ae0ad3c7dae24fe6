import type { Metadata } from "next";
import { WorkloadsScreen } from "@/components/workloads/WorkloadsScreen";

export const metadata: Metadata = { title: "Workloads" };

export default function WorkloadsPage() {
  return <WorkloadsScreen />;
}
