-- Creates ConfigMaps of 1.6 KB, each with a name of its own.
local thread_count = 0
function setup(thread)
  thread:set("id", thread_count)
  thread_count = thread_count + 1
end
local number = 0
local text = string.rep("x", 1300)
function request()
  number = number + 1
  local body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"' .. prefix .. "-" .. id .. "-" .. number ..
    '","labels":{"app":"load"}},"data":{"text":"' .. text .. '"}}'
  return wrk.format("POST", nil, { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }, body)
end
function init(args)
  token, prefix = args[1], args[2]
end
function done(summary)
  if summary.errors.status > 0 then print("errors: " .. summary.errors.status) end
end
