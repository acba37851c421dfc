export { execute, PASSED_HEADERS, type ExecuteContext, type ExecuteInput } from './execute.js'
export {
  writeBotOutput,
  type BotHttpAnswer,
  type ExecuteResult,
  botResponse,
  isBotResponse,
  type BotResponse,
  type BotResponseOptions,
} from './answer.js'
export { createBots, type BotLogEntry, type BotOptions, type Bots, type HostBot, type BotAddress } from './bots.js'
export { botEntries, readBot, type BotIdentifier, type BotRecord, type StoredBot } from './bot.js'
export {
  type BotCapabilities,
  type BotContext,
  type BotEvent,
  type BotFunction,
  type BotStorage,
  type TextMap,
  type BotSchemas,
  type SchemaCheck,
  type SchemaProblem,
  DEFAULT_BOT_LIMITS,
  type BotLimits,
  type BotLogLevel,
  type BotRuntime,
  type BotTask,
} from './bot-function.js'
export { readBotInput, readBotQuery, QUERY_CONTENT_TYPE, unwritableInput, type BotInput, type BotQuery } from './input.js'
export { BOT_CONTENT_TYPES, type BotContentType, type ParseJson } from './content-types.js'
export { checkBotSchemas } from './bot-schemas.js'
