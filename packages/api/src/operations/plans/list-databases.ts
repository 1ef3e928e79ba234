import { Type } from 'typebox'
import { fieldsQuery } from '../../contract/fields-query.ts'
import { operation } from '../../contract/operation.ts'
import { cursorQuery, PageQuery, searchQuery, sortQuery } from '../../contract/page.ts'
import { Database, DatabaseStatus, EngineVersion } from '../databases.ts'

/**
 * GET /v1/bdbs: databases that the caller may see, without secrets; by uid or `sort`. Pages count only
 * selected databases.
 */
export const listDatabases = operation({
  method: 'GET',
  path: '/v1/bdbs',
  summary: 'List the databases, by uid or by `sort`',
  since: '0.1.0',
  permission: 'view_all_bdbs_info',
  query: Type.Object(
    {
      ...PageQuery.properties,
      ...cursorQuery,
      ...fieldsQuery,
      ...searchQuery('Only those whose name contains this, whatever its case; or whose uid is this number'),
      status: Type.Optional(DatabaseStatus),
      engine_version: Type.Optional(
        Type.String({ ...EngineVersion, description: 'Only those that run "8.1", "8.1.1" or "valkey-8.1"' }),
      ),
      ...sortQuery(['uid', 'name', 'memory_size', 'created_time', 'last_changed_time']),
    },
    { additionalProperties: false },
  ),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(Database),
  errors: [],
})
