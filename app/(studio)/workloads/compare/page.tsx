import type { Metadata } from "next";
import { CompareScreen } from "@/components/workloads/CompareScreen";

export const metadata: Metadata = { title: "Compare workloads" };

export default function CompareWorkloadsPage() {
  return <CompareScreen />;
}
