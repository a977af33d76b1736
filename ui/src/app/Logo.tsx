export function Logo() {
  return (
    <span
      style={{
        display: "inline-flex",
        alignItems: "center",
        gap: 9,
        fontWeight: 650,
        fontSize: 17,
        letterSpacing: "-0.02em",
      }}
    >
      <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#4f5bd5" />
        <path
          d="M8 20.5 13 9.5l5 11M9.9 17h6.2"
          fill="none"
          stroke="#fff"
          strokeWidth="2.4"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <path
          d="m17.5 20.5 2.6 2.6L25 16"
          fill="none"
          stroke="#a7f0cf"
          strokeWidth="2.4"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      accordance
    </span>
  );
}
