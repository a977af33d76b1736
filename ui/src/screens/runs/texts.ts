import { defineTexts } from "../../i18n";

export const texts = defineTexts({
  title: { en: "Runs", "zh-CN": "运行", ko: "실행" },
  about: {
    en: "All plans and their progress.",
    "zh-CN": "所有计划及其进展。",
    ko: "모든 계획과 진행 상황.",
  },
  search: {
    en: "Search titles, or filter: agent:codex since:2026-11-01",
    "zh-CN": "搜索标题，或筛选：agent:codex since:2026-11-01",
    ko: "제목 검색 또는 필터: agent:codex since:2026-11-01",
  },
  all: { en: "All", "zh-CN": "全部", ko: "전체" },
  state: { en: "State of the plan", "zh-CN": "计划状态", ko: "계획 상태" },
  none: { en: "No plan yet", "zh-CN": "还没有计划", ko: "아직 계획이 없습니다" },
  noneAbout: {
    en: "A plan says what is to be done, by whom, and how it is judged. Write it as YAML, import it, then run it.",
    "zh-CN": "计划说明要做什么、由谁做以及如何评判。用 YAML 编写，然后导入并执行。",
    ko: "계획은 무엇을, 누가, 어떤 기준으로 하는지 정합니다. YAML로 작성한 뒤 가져와서 실행하세요.",
  },
  noMatch: {
    en: "No matching plans",
    "zh-CN": "没有符合条件的计划",
    ko: "조건에 맞는 계획이 없습니다",
  },
  clear: { en: "Show all plans", "zh-CN": "显示全部计划", ko: "모든 계획 보기" },
  done: {
    en: (done: number, all: number) => `${done} of ${all} done`,
    "zh-CN": (done: number, all: number) => `完成 ${done}/${all}`,
    ko: (done: number, all: number) => `${all}개 중 ${done}개 완료`,
  },
  dead: {
    en: (count: number) => `${count} given up`,
    "zh-CN": (count: number) => `已放弃 ${count} 项`,
    ko: (count: number) => `${count}개 포기`,
  },
  waiting: {
    en: (count: number) => `${count} waiting for people`,
    "zh-CN": (count: number) => `${count} 项等待人工`,
    ko: (count: number) => `사람의 답변 대기 ${count}개`,
  },
  imported: { en: "imported", "zh-CN": "导入于", ko: "가져옴" },
  reasons: { en: "Why work was refused", "zh-CN": "成果被拒的原因", ko: "작업이 거부된 이유" },
  noReasons: {
    en: "Nothing has been refused so far.",
    "zh-CN": "目前没有被拒的成果。",
    ko: "아직 거부된 작업이 없습니다.",
  },
  times: {
    en: (count: number) => (count === 1 ? "once" : `${count} times`),
    "zh-CN": (count: number) => `${count} 次`,
    ko: (count: number) => `${count}회`,
  },
  spent: { en: "Time and cost", "zh-CN": "消耗", ko: "사용량" },
  tokens: { en: "tokens", "zh-CN": "词元", ko: "토큰" },
  runsCounted: {
    en: (count: number) => (count === 1 ? "1 attempt" : `${count} attempts`),
    "zh-CN": (count: number) => `${count} 次尝试`,
    ko: (count: number) => `시도 ${count}회`,
  },
  next: { en: "Next plan", "zh-CN": "下一个计划", ko: "다음 계획" },
  previous: { en: "Previous plan", "zh-CN": "上一个计划", ko: "이전 계획" },
  open: { en: "Open the plan", "zh-CN": "打开计划", ko: "계획 열기" },
  focusSearch: { en: "Search", "zh-CN": "搜索", ko: "검색" },
  import: { en: "Import a plan", "zh-CN": "导入计划", ko: "계획 가져오기" },
  importAbout: {
    en: "Paste a plan or choose a file. Nothing is stored until you have seen the preview.",
    "zh-CN": "粘贴计划或选择文件。预览之前不会保存任何内容。",
    ko: "계획을 붙여넣거나 파일을 선택하세요. 미리보기 전에는 아무것도 저장되지 않습니다.",
  },
  document: { en: "The plan", "zh-CN": "计划", ko: "계획" },
  format: { en: "Format", "zh-CN": "格式", ko: "형식" },
  chooseFile: { en: "Choose a file", "zh-CN": "选择文件", ko: "파일 선택" },
  preview: { en: "Preview", "zh-CN": "预览", ko: "미리보기" },
  previewSays: {
    en: (nodes: number, edges: number, ready: number) =>
      `${nodes} tasks, ${edges} links; ${ready} can begin immediately.`,
    "zh-CN": (nodes: number, edges: number, ready: number) =>
      `${nodes} 个任务，${edges} 条连线；${ready} 个可立即开始。`,
    ko: (nodes: number, edges: number, ready: number) =>
      `작업 ${nodes}개, 연결 ${edges}개, 바로 시작 가능 ${ready}개.`,
  },
  repaired: {
    en: (count: number) => `${count} spellings were normalised`,
    "zh-CN": (count: number) => `规范化了 ${count} 处写法`,
    ko: (count: number) => `표기 ${count}곳을 정규화함`,
  },
  withReview: {
    en: "Review the plan first",
    "zh-CN": "先由审查者审查",
    ko: "검토자가 먼저 검토",
  },
  importNow: { en: "Import", "zh-CN": "导入", ko: "가져오기" },
  imported2: { en: "The plan has been imported.", "zh-CN": "计划已导入。", ko: "계획을 가져왔습니다." },
});
