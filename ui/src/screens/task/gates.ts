import { defineTexts } from "../../i18n";

/** The question of each check. */
export const gates = defineTexts({
  message: { en: "Did the run end with a message?", "zh-CN": "运行是否以消息结束？", ko: "실행이 메시지로 끝났나요?" },
  contract: { en: "Does the message honour its contract?", "zh-CN": "消息是否符合契约？", ko: "메시지가 계약을 지키나요?" },
  result: { en: "Does the agent itself report that it is done?", "zh-CN": "代理是否声明已完成？", ko: "에이전트가 스스로 완료했다고 보고하나요?" },
  review: { en: "Does the review approve the product?", "zh-CN": "审查是否批准成果？", ko: "검토가 결과물을 승인하나요?" },
  schema: { en: "Does the submission honour its contract?", "zh-CN": "提交是否符合契约？", ko: "제출물이 계약을 지키나요?" },
  constitution: { en: "Was a rule broken that no task may waive?", "zh-CN": "是否违反了任何任务都不能豁免的规则？", ko: "어떤 작업에서도 예외가 없는 규칙을 어겼나요?" },
  policy: { en: "Was anything used that is not permitted?", "zh-CN": "是否使用了未经允许的东西？", ko: "허용되지 않은 것을 사용했나요?" },
  scope: { en: "Was anything touched outside the pins?", "zh-CN": "是否改动了允许范围之外的内容？", ko: "허용 범위 밖을 건드렸나요?" },
  environment: { en: "Could the tests be run at all?", "zh-CN": "测试能否运行？", ko: "테스트를 실행할 수 있었나요?" },
  budget: { en: "Did it cost more than it may?", "zh-CN": "花费是否超出限额？", ko: "허용된 비용을 넘었나요?" },
  need_input: { en: "Does the agent ask for something?", "zh-CN": "代理是否请求输入？", ko: "에이전트가 무언가를 요청하나요?" },
  evidence: { en: "Is the evidence complete and true?", "zh-CN": "证据是否齐全且属实？", ko: "증거가 모두 있고 사실인가요?" },
  file_match: { en: "Do the declared files match the actual changes?", "zh-CN": "声明的文件与实际修改是否一致？", ko: "선언한 파일과 실제 변경이 같은가요?" },
  tests: { en: "Did every test pass in our own run?", "zh-CN": "我们自己运行的测试是否全部通过？", ko: "직접 실행한 모든 테스트가 통과했나요?" },
  status: { en: "Does the agent itself report that it is done?", "zh-CN": "代理是否声明已完成？", ko: "에이전트가 스스로 완료했다고 보고하나요?" },
});
