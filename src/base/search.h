/* Binary search in what is sorted, by any condition.
 *
 *   size_t at = as_search(0, n, i, items[i].start <= address);
 *
 * is the first i from 0 to n-1 for which the condition is false, and n where it is false for none. The condition must
 * be true for all before that and false for all from there on. It may be evaluated for any i in the range, O(log n)
 * times.
 */
#ifndef AS_BASE_SEARCH_H
#define AS_BASE_SEARCH_H

#define as_search(first, end, i, before)                                                                               \
    ({                                                                                                                 \
        __typeof__((end) + 0) low_ = (first), high_ = (end);                                                           \
        while (low_ < high_) {                                                                                         \
            __typeof__((end) + 0) i = low_ + (high_ - low_) / 2;                                                       \
            if (before)                                                                                                \
                low_ = i + 1;                                                                                          \
            else                                                                                                       \
                high_ = i;                                                                                             \
        }                                                                                                              \
        low_;                                                                                                          \
    })

#endif
