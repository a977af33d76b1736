/** Reviews: the score of each dimension, issues with evidence, and what was asked for. */
import { Group, Stack, Text, Title } from "@mantine/core";

import { useRead } from "../../api/queries";
import type { DimensionView, FullReviewView, IssueView, SuggestionView } from "../../api/schema.gen";
import { useTexts } from "../../i18n";
import { AnyText, Shown, TimeAgo } from "../../kit";
import type { TabProps } from ".";
import { texts } from "./texts";

export default function Reviews({ task }: TabProps) {
  const t = useTexts(texts);
  const reviews = useRead("/v1/tasks/{task}/reviews", { params: { task: task.task_id } });
  return (
    <Shown query={reviews}>
      {({ items }) => (
        <Stack gap="md">
          {items.length === 0 && <Text c="dimmed">{t.noReviews}</Text>}
          {items.toReversed().map((review) => <Review key={review.message_id} review={review} />)}
        </Stack>
      )}
    </Shown>
  );
}

export function Review({ review }: { review: FullReviewView }) {
  const t = useTexts(texts);
  return (
    <article className="card" style={{ padding: 20 }}>
      <Group justify="space-between" align="flex-start" gap="md">
        <div style={{ flex: "1 1 320px", minWidth: 0 }}>
          <Group gap="sm">
            {review.attempt !== null && <Title order={2} fz={16}>{t.attempt(review.attempt)}</Title>}
            <span className="pill" data-action={review.action} style={hueOf(review.action)}>{review.action}</span>
          </Group>
          <Text size="xs" c="dimmed" mt={2} component="div">
            {review.reviewer && <>{t.by} <AnyText>{review.reviewer}</AnyText> · </>}<TimeAgo at={review.at} />
          </Text>
          <Text size="sm" mt="sm" component="div"><AnyText>{review.summary}</AnyText></Text>
        </div>
        <div className="score" aria-label={`${t.score}: ${review.score} / ${review.max_score}`}>
          <b>{review.score}</b><span>/ {review.max_score}</span>
        </div>
      </Group>
      <Stack gap="md" mt="lg">{review.dimensions.map((dimension) => <Dimension key={dimension.dimension} dimension={dimension} />)}</Stack>
      {review.suggestions.length > 0 && (
        <Stack gap="sm" mt="lg">
          <Text fw={600} size="sm">{t.suggestions}</Text>
          {review.suggestions.map((suggestion, index) => <Suggestion key={index} suggestion={suggestion} />)}
        </Stack>
      )}
    </article>
  );
}

function hueOf(action: string) {
  const hue = { APPROVE: "done", MODIFY: "check", REQUEST_EXTERNAL_INPUT: "ask" }[action] ?? "idle";
  return { color: `var(--state-${hue})`, background: `var(--state-${hue}-soft)` };
}

function Dimension({ dimension }: { dimension: DimensionView }) {
  const t = useTexts(texts);
  const { score, max_score: most, issues } = dimension;
  const part = most > 0 ? score / most : 0;
  const hue = part >= 0.9 ? "done" : part >= 0.6 ? "ask" : "fail";
  return (
    <div>
      <Group justify="space-between" gap="sm" mb={4}>
        <Text size="sm" fw={550}><AnyText>{dimension.dimension}</AnyText></Text>
        <Text size="sm" ff="monospace">{score} / {most}</Text>
      </Group>
      <div className="bar" role="img" aria-label={`${dimension.dimension}: ${score} / ${most}`}>
        <svg width="100%" height="8" preserveAspectRatio="none" viewBox="0 0 100 8" aria-hidden>
          <rect width={part * 100} height="8" fill={`var(--state-${hue})`} />
        </svg>
      </div>
      {issues.length === 0 && <Text size="xs" c="dimmed" mt={4}>{t.noIssues}</Text>}
      {issues.map((issue, index) => <Issue key={index} issue={issue} />)}
    </div>
  );
}

function Issue({ issue }: { issue: IssueView }) {
  const t = useTexts(texts);
  const rows: readonly (readonly [string, string])[] = [
    [t.evidence, issue.evidence], [t.impact, issue.impact], [t.suggestion, issue.suggestion], [t.acceptance, issue.acceptance_criteria],
  ];
  return (
    <div className="issue">
      <Text size="sm" fw={550} component="div"><AnyText>{issue.problem}</AnyText></Text>
      <dl className="facts">
        {rows.filter(([, value]) => value !== "").map(([label, value]) => (
          <div key={label}><dt>{label}</dt><dd><AnyText>{value}</AnyText></dd></div>
        ))}
      </dl>
    </div>
  );
}

function Suggestion({ suggestion }: { suggestion: SuggestionView }) {
  const t = useTexts(texts);
  return (
    <div className="issue">
      <Text size="sm" component="div">
        <span className="pill" style={{ background: "var(--surface-2)" }}>{suggestion.priority}</span> <AnyText>{suggestion.change}</AnyText>
      </Text>
      <ol className="plain-list">{suggestion.steps.map((step, index) => <li key={index}><AnyText>{step}</AnyText></li>)}</ol>
      {suggestion.acceptance_criteria && (
        <dl className="facts"><div><dt>{t.acceptance}</dt><dd><AnyText>{suggestion.acceptance_criteria}</AnyText></dd></div></dl>
      )}
    </div>
  );
}
