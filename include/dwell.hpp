// SPDX-License-Identifier: Apache-2.0
//
// dwell.hpp - regions that end with their scope, however it is left.
#ifndef DWELL_HPP
#define DWELL_HPP

#include "dwell.h"

namespace dwell
{

// The region is active as long as the object lives.
class scope
{
    public:
	DWELL_UNTOLD explicit scope(struct dwell_region &region) : region_(region)
	{
		dwell_begin(&region_);
	}
	DWELL_UNTOLD ~scope()
	{
		dwell_end(&region_);
	}

    private:
	scope(const scope &);
	scope &operator=(const scope &);

	struct dwell_region &region_;
};

} // namespace dwell

#define DWELL_JOIN_(a, b) a##b
#define DWELL_JOIN(a, b)  DWELL_JOIN_(a, b)

// The rest of the enclosing block is a region.
#define DWELL_SCOPE(name, group)                                                              \
	static struct dwell_region DWELL_JOIN(dwell_region_, __LINE__) = { name, group,       \
									    NULL };           \
	const ::dwell::scope DWELL_JOIN(dwell_scope_, __LINE__)(                              \
		DWELL_JOIN(dwell_region_, __LINE__))

#endif
