import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";

import { useTexts } from "../../i18n";
import { AnyText, StateIcon, texts as kitTexts } from "../../kit";
import type { Box, BoxStates } from "./graph/scene";
import { texts } from "./texts";

const ROW = 30;

interface OutlineProps {
  readonly boxes: readonly Box[];
  readonly states: BoxStates;
  readonly selected: string | null;
  readonly onSelect: (id: string | null) => void;
  readonly onToggle: (box: Box) => void;
}

/** The tasks of the graph as a tree: the same selection, for the keyboard and screen readers. */
export function Outline({ boxes, states, selected, onSelect, onToggle }: OutlineProps) {
  const t = useTexts(texts);
  const names = useTexts(kitTexts);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: boxes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const at = boxes.findIndex((box) => box.id === selected);
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [at, rows]);

  const press = (event: KeyboardEvent) => {
    const box = boxes[at];
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: boxes.length - 1 }[event.key];
    if (next !== undefined) {
      const wanted = boxes[Math.min(boxes.length - 1, Math.max(0, next))];
      if (wanted) onSelect(wanted.id);
    } else if (box && box.parts > 0 && isFolding(event.key, box)) onToggle(box);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={t.outline}
      tabIndex={0}
      className="outline-rows"
      aria-activedescendant={at >= 0 ? `row-${boxes[at]?.at}` : undefined}
      onKeyDown={press}
    >
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((row) => {
          const box = boxes[row.index];
          if (!box) return null;
          const state = states.own[box.at];
          return (
            <div
              key={box.id}
              id={`row-${box.at}`}
              role="treeitem"
              aria-level={box.level + 1}
              aria-selected={box.id === selected}
              aria-expanded={box.parts > 0 ? box.isFrame : undefined}
              aria-label={`${box.title}${state ? `, ${names[state]}` : ""}`}
              data-task={box.id}
              className="outline-row"
              style={{ transform: `translateY(${row.start}px)`, paddingLeft: 6 + 14 * box.level }}
              onClick={() => onSelect(box.id)}
              onDoubleClick={() => box.parts > 0 && onToggle(box)}
            >
              <span
                className="fold-mark"
                title={box.parts === 0 ? undefined : box.isFrame ? t.fold : t.unfold}
                onClick={(event) => {
                  if (box.parts === 0) return;
                  event.stopPropagation();
                  onToggle(box);
                }}
              >
                {box.parts === 0 ? "" : box.isFrame ? "▾" : "▸"}
              </span>
              {state && <StateIcon state={state} />}
              <AnyText oneLine style={{ flex: 1 }}>
                {box.title}
              </AnyText>
              {box.hidden > 0 && <span className="hidden-count">{box.hidden}</span>}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function isFolding(key: string, box: Box): boolean {
  if (key === " ") return true;
  return key === "ArrowRight" ? !box.isFrame : key === "ArrowLeft" && box.isFrame;
}
