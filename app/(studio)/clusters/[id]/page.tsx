import { redirect } from "next/navigation";

/** The address of one cluster, as of one workload or plan: the Clusters page shows it whole. */
export default async function ClusterPage({ params }: { readonly params: Promise<{ readonly id: string }> }) {
  const { id } = await params;
  redirect(`/clusters?show=${encodeURIComponent(id)}`);
}
