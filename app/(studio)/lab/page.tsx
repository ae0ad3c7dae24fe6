import type { Metadata } from "next";
import { LabScreen } from "@/components/lab/LabScreen";

export const metadata: Metadata = { title: "Lab" };

export default function LabPage() {
  return <LabScreen />;
}
