import { queryOptions } from '@tanstack/react-query'
import { api, read } from './client'
import type { Role } from './service'

export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: async () => (await read(api.GET('/v1/users'))).users,
})

/** accountQuery is who is signed in, and whether a user has a password yet. */
export const accountQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => read(api.GET('/v1/me')),
})

export function addUser(name: string, role: Role) {
  return read(api.POST('/v1/users', { body: { name, role } }))
}

export function changeRole(name: string, role: Role) {
  return read(api.PATCH('/v1/users/{name}', { params: { path: { name } }, body: { role } }))
}

export function newLink(name: string) {
  return read(api.POST('/v1/users/{name}/links', { params: { path: { name } } }))
}

export function removeUser(name: string) {
  return read(api.DELETE('/v1/users/{name}', { params: { path: { name } } }))
}

export function choosePassword(password: string, current: string | undefined) {
  return read(api.PUT('/v1/me/password', { body: { password, current } }))
}
