import type { ReactNode } from "react";

function Icon({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className="size-4 shrink-0"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {children}
    </svg>
  );
}

/** The mark: water going down two steps. */
export const WeirIcon = () => (
  <Icon>
    <path d="M1.5 4H6v4h4.5v4h4" />
    <path d="M1.5 12H6M6 8v4" opacity=".5" />
  </Icon>
);
export const PlanIcon = () => (
  <Icon>
    <path d="M2 2v12h12" />
    <path d="M4.5 11.5h2v-3h3v-3h4" />
  </Icon>
);
export const HistoryIcon = () => (
  <Icon>
    <path d="M2.5 8A5.5 5.5 0 1 0 4 4.2L2.5 5.5" />
    <path d="M2.5 2.5v3h3M8 5v3.2l2 1.3" />
  </Icon>
);
export const AuditIcon = () => (
  <Icon>
    <path d="M3.5 1.5h9v13h-9zM5.5 4.5h5M5.5 7h5" />
    <path d="M5.5 10.5l1.5 1.5 3-3" />
  </Icon>
);
export const LiveIcon = () => (
  <Icon>
    <path d="M1.5 8.5H4l2-5 3.5 9 2-4h3" />
  </Icon>
);
export const WorkflowsIcon = () => (
  <Icon>
    <circle cx="3.5" cy="8" r="1.75" />
    <circle cx="12.5" cy="3.75" r="1.75" />
    <circle cx="12.5" cy="12.25" r="1.75" />
    <path d="M5.2 7.2l5.6-2.6M5.2 8.8l5.6 2.6" />
  </Icon>
);
export const EnsemblesIcon = () => (
  <Icon>
    <path d="M2 3.5h6M2 8h4M2 12.5h7" />
    <path d="M10.5 3.5c2 0 1 4.5 3.5 4.5M8.5 8H14M11.5 12.5c1.5 0 0-4.5 2.5-4.5" />
  </Icon>
);
export const LabIcon = () => (
  <Icon>
    <path d="M6 2v4.5L2.7 12.2a1.2 1.2 0 0 0 1 1.8h8.6a1.2 1.2 0 0 0 1-1.8L10 6.5V2M5 2h6M4.5 10h7" />
  </Icon>
);
export const WorkloadsIcon = () => (
  <Icon>
    <path d="M2.5 4h11M2.5 8h7M2.5 12h9" />
  </Icon>
);
export const ClustersIcon = () => (
  <Icon>
    <rect x="2" y="2.5" width="12" height="4.5" rx="1" />
    <rect x="2" y="9" width="12" height="4.5" rx="1" />
    <path d="M4.5 4.75h.01M4.5 11.25h.01M7 4.75h4.5M7 11.25h4.5" />
  </Icon>
);
export const CardsIcon = () => (
  <Icon>
    <rect x="4.5" y="4.5" width="9" height="9" rx="1" />
    <path d="M2.5 11V3.5a1 1 0 0 1 1-1H11M7.5 8h3M7.5 10.5h3" />
  </Icon>
);
export const PeopleIcon = () => (
  <Icon>
    <circle cx="5.5" cy="5" r="2.5" />
    <path d="M1.5 13.5c0-2.5 1.7-4 4-4s4 1.5 4 4" />
    <path d="M13.5 8.5v5M13.5 11H11M13.5 13.5H12" />
    <circle cx="13.5" cy="7" r="1.5" />
  </Icon>
);
export const CalibrationIcon = () => (
  <Icon>
    <path d="M2 2v12h12M4.5 11.5l8-8" />
    <path d="M6 7.5h.01M8.5 9.5h.01M9.5 5h.01M12 7h.01" />
  </Icon>
);
