import type { Metadata } from "next";
import { ClustersScreen } from "@/components/clusters/ClustersScreen";

export const metadata: Metadata = { title: "Clusters" };

export default function ClustersPage() {
  return <ClustersScreen />;
}
