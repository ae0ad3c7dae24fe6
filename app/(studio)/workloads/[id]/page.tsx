import type { Metadata } from "next";
import { WorkloadScreen } from "@/components/workloads/WorkloadScreen";

export const metadata: Metadata = { title: "Workload" };

export default async function WorkloadPage({ params }: { readonly params: Promise<{ readonly id: string }> }) {
  return <WorkloadScreen id={(await params).id} />;
}
